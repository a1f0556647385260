#include "ir/facts/fusion.h"

#include <algorithm>
#include <string_view>

#include "ir/attributes/attribute.h"

namespace hespas::ir {

BlockId FusionBody(const Module& module, OpId fusion) {
  const BlockId body = module.body(fusion);
  if (body.valid()) return body;
  for (const std::string_view name : {"calls", "called_computation"}) {
    const std::string_view* text = module.attribute(fusion, name);
    if (text == nullptr) continue;
    const OpId function = module.FindSymbol(AsSymbol(*text));
    if (function.valid()) return module.body(function);
  }
  return BlockId();
}

std::vector<OpId> FusedOps(const Module& module, OpId fusion) {
  const BlockId whole = FusionBody(module, fusion);
  if (!whole.valid()) return {};
  const auto& own = module.block(whole).ops;
  const auto is_fusion = [&](OpId op) { return module.kind(op) == OpKind::kFusion; };
  if (std::none_of(own.begin(), own.end(), is_fusion)) return {own.begin(), own.end()};
  std::vector<OpId> found;
  std::vector<OpId> fusions = {fusion};
  std::vector<BlockId> seen;
  while (!fusions.empty()) {
    const BlockId body = FusionBody(module, fusions.back());
    fusions.pop_back();
    if (!body.valid() || std::find(seen.begin(), seen.end(), body) != seen.end()) continue;
    seen.push_back(body);
    const auto& ops = module.block(body).ops;
    for (const OpId op : ops) (is_fusion(op) ? fusions : found).push_back(op);
  }
  return found;
}

bool IsTritonFusion(const Module& module, OpId fusion) {
  for (const std::string_view name : {"backend_config", "mhlo.backend_config"}) {
    const std::string_view* text = module.attribute(fusion, name);
    // Quotes may be escaped; only a fusion's kind starts like this.
    if (text != nullptr && text->find("__triton") != std::string_view::npos) return true;
  }
  return false;
}

ValueId UpdateOf(const Module& module, OpId op) {
  const auto operands = module.operands(op);
  if (module.kind(op) == OpKind::kScatter && operands.size() == 3) return operands[2];
  if (module.kind(op) == OpKind::kDynamicUpdateSlice && operands.size() > 1) return operands[1];
  return ValueId();
}

}  // namespace hespas::ir
