#include "split/separator.h"

#include <algorithm>
#include <cctype>
#include <string>

#include "ir/attributes/attribute.h"
#include "ir/facts/library_call.h"
#include "ir/walk.h"

namespace hespas::split {
namespace {

struct SeparatorRow {
  std::string_view name;
  Separator separator;
  std::string_view part;  // of the op names that separate; empty for communication
};

constexpr SeparatorRow kSeparators[] = {
    {"communication", Separator::kCommunication, ""},
    {"convolution", Separator::kConvolution, "stablehlo.convolution"},
    {"dot_general", Separator::kDotGeneral, "stablehlo.dot_general"},
    {"reduce", Separator::kReduce, "stablehlo.reduce"},
    {"return", Separator::kReturn, "return"},
};

bool SameText(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

// The computation that an asynchronous op runs: called by symbol, or held as a region.
ir::OpId AsyncBody(const ir::Module& module, ir::OpId op) {
  for (const std::string_view name : {"called_computation", "callee"}) {
    const std::string_view* text = module.attribute(op, name);
    if (text != nullptr) return module.FindSymbol(ir::AsSymbol(*text));
  }
  return op;
}

}  // namespace

std::optional<Separator> SeparatorByName(std::string_view name) {
  if (name.starts_with("is_")) name.remove_prefix(3);
  if (name.ends_with("_op")) name.remove_suffix(3);
  for (const SeparatorRow& row : kSeparators) {
    if (row.name == name) return row.separator;
  }
  return std::nullopt;
}

std::optional<SeparatorPolicy> PolicyByName(std::string_view name) {
  if (SameText(name, "isolated")) return SeparatorPolicy::kIsolated;
  if (SameText(name, "end_block")) return SeparatorPolicy::kEndBlock;
  if (SameText(name, "start_block")) return SeparatorPolicy::kStartBlock;
  return std::nullopt;
}

ir::OpId CollectiveOf(const ir::Module& module, ir::OpId op) {
  const ir::OpKind kind = module.kind(op);
  if (kind == ir::OpKind::kCustomCall) {
    return ir::IsRaggedAllToAll(module.attribute(op, "call_target_name")) ? op : ir::OpId();
  }
  if (ir::IsCollective(kind) || kind == ir::OpKind::kSend || kind == ir::OpKind::kRecv) return op;
  if (kind != ir::OpKind::kAsyncStart) return ir::OpId();
  const ir::OpId body = AsyncBody(module, op);
  ir::OpId found;
  if (!body.valid()) return found;
  ir::WalkNested(module, body, [&](ir::OpId inner) {
    if (!found.valid() && ir::IsCollective(module.kind(inner))) found = inner;
  });
  return found;
}

bool IsCommunication(const ir::Module& module, ir::OpId op) { return CollectiveOf(module, op).valid(); }

bool Separates(Separator separator, const ir::Module& module, ir::OpId op) {
  if (separator == Separator::kCommunication) return IsCommunication(module, op);
  return module.name(op).find(kSeparators[static_cast<size_t>(separator)].part) != std::string_view::npos;
}

}  // namespace hespas::split
