#include "ir/facts/execution/scheduled.h"

#include "ir/attributes/attribute.h"

namespace hespas::ir {

bool IsScheduled(const Module& module) {
  const std::string_view* text = module.attribute(module.root(), "is_scheduled");
  if (text == nullptr) text = module.attribute(module.root(), "mhlo.is_scheduled");
  return text != nullptr && AsBool(*text).value_or(false);
}

bool IsScheduledForCpu(const Module& module) {
  const auto mentions = [&](std::string_view attribute, std::string_view word) {
    const std::string_view* text = module.attribute(module.root(), attribute);
    return text != nullptr && text->find(word) != std::string_view::npos;
  };
  if (!IsScheduled(module) || mentions("frontend_attributes", "fingerprint_before_lhs")) return false;
  if (mentions("entry_computation_layout", "T(")) return false;
  for (size_t i = 0; i < module.op_count(); ++i) {
    const OpId op(i);
    if (module.kind(op) != OpKind::kFusion) continue;
    const std::string_view* kind = module.attribute(op, "fusion_kind");
    if (kind == nullptr || kind->find("kLoop") == std::string_view::npos) return false;
  }
  return true;
}

}  // namespace hespas::ir
