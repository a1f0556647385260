#include "memory/buffers/workspace.h"

#include <algorithm>

#include "base/units.h"
#include "ir/attributes/attribute.h"
#include "ir/facts/library_call.h"

namespace hespas::memory {
namespace {

using ir::OpKind;

constexpr int64_t kNumberBytes = 4;

// XLA multiplies by vectors in loops of its own.
bool IsGemm(const ir::Module& module, ir::OpId op) {
  if (ir::LibraryKindOf(module, op) != ir::LibraryKind::kGemm) return false;
  const auto library = ir::LibraryCallOf(module, op);
  return library && library->m != 1 && library->n != 1;
}

bool IsStableSort(const ir::Module& module, ir::OpId op) {
  const std::string_view* text = module.attribute(op, "is_stable");
  return module.kind(op) == OpKind::kSort && text != nullptr && *text == "true";
}

// The numbers of elements, made by a kernel that reads nothing: what the sort carries along is the same value, which
// then is not sorted in place.
bool IsNumbers(const ir::Module& module, ir::ValueId value) {
  const ir::OpId producer = module.defining_op(value);
  const bool made =
      producer.valid() && (module.kind(producer) == OpKind::kFusion || module.kind(producer) == OpKind::kIota);
  const ir::Element& element = module.type(value).element;
  return made && module.op(producer).operand_count == 0 && element.kind == ir::ElementKind::kInteger &&
         element.bits == 8 * kNumberBytes;
}

}  // namespace

bool ReturnsWorkspace(const ir::Module& module, ir::OpId op) {
  if (module.kind(op) == OpKind::kConvolution) return true;
  if (ir::CallTarget(module, op).starts_with("__cudnn$conv")) return module.op(op).result_count == 1;
  return module.op(op).result_count == 1 && IsGemm(module, op);
}

int64_t WorkspaceOf(const ir::Module& module, ir::OpId op, int64_t gemm) {
  if (IsStableSort(module, op) && module.op(op).operand_count > 0) {
    const auto operands = module.operands(op);
    const bool numbered =
        std::any_of(operands.begin(), operands.end(), [&](ir::ValueId value) { return IsNumbers(module, value); });
    return internal::SaturatingMultiply(numbered ? 2 * kNumberBytes : kNumberBytes,
                                        module.type(operands[0]).element_count());
  }
  if (module.op(op).result_count != 1 || !IsGemm(module, op)) return 0;
  int64_t operands = 0;
  for (const ir::ValueId value : module.operands(op)) {
    operands = internal::SaturatingAdd(operands, ir::ByteSize(module.types(), module.type_id(value)));
  }
  return std::min(operands, gemm);
}

}  // namespace hespas::memory
