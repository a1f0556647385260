#include "memory/buffers/aliasing.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/attributes/attribute.h"
#include "ir/attributes/op_attributes.h"
#include "memory/buffers/hlo_aliases.h"
#include "memory/buffers/workspace.h"

namespace hespas::memory {
namespace {

using ir::OpKind;
using ir::OpSort;

constexpr int kLongestChain = 10'000;

// Custom calls that hand their operand on.
constexpr std::string_view kAnnotations[] = {"Sharding", "SPMDFullToShardShape", "SPMDShardToFullShape",
                                             "xla.sdy",  "LayoutConstraint",     "annotate_device_placement"};

bool IsAnnotation(const ir::Module& module, ir::OpId op) {
  const std::string_view* target = module.attribute(op, "call_target_name");
  return target != nullptr && std::any_of(std::begin(kAnnotations), std::end(kAnnotations), [&](std::string_view part) {
           return target->find(part) != std::string_view::npos;
         });
}

// `[#stablehlo.output_operand_alias<output_tuple_indices = [0], operand_index = 2, ...>]`
std::vector<std::pair<int64_t, int64_t>> MlirAliases(std::string_view text) {
  std::vector<std::pair<int64_t, int64_t>> pairs;
  for (const std::string_view item : ir::ListItems(text)) {
    const auto entries = ir::Entries(item.substr(std::min(item.find('<'), item.size())));
    const auto operand = ir::FindEntry(entries, "operand_index");
    const auto index = ir::FindEntry(entries, "output_tuple_indices");
    const auto indices = index ? ir::AsIntegers(*index) : std::nullopt;
    const auto number = operand ? ir::AsInteger(*operand) : std::nullopt;
    if (number) pairs.emplace_back(indices && !indices->empty() ? indices->front() : 0, *number);
  }
  return pairs;
}

std::optional<size_t> WrittenAlias(const ir::Module& module, ir::OpId op, size_t result) {
  std::vector<std::pair<int64_t, int64_t>> pairs;
  if (const auto* text = module.attribute(op, "output_to_operand_aliasing")) pairs = HloAliases(*text);
  if (const auto* text = module.attribute(op, "output_operand_aliases")) pairs = MlirAliases(*text);
  for (const auto& [to, from] : pairs) {
    if (to == static_cast<int64_t>(result) && from >= 0) return static_cast<size_t>(from);
  }
  return std::nullopt;
}

bool PassesThrough(OpKind kind) {
  switch (kind) {
    case OpKind::kBitcast:
    case OpKind::kReshape:
    case OpKind::kDynamicReshape:
    case OpKind::kOptimizationBarrier:
    case OpKind::kAddDependency:
    case OpKind::kDomain:
    case OpKind::kSdyAnnotation:
    case OpKind::kSetDimensionSize:
    case OpKind::kGetTupleElement:
      return true;
    default:
      return false;
  }
}

// Follows a value of a fusion's body back through ops that only rename it.
ir::ValueId Origin(const ir::Module& module, ir::ValueId value) {
  for (int i = 0; i < kLongestChain && value.valid(); ++i) {
    const ir::OpId op = module.defining_op(value);
    if (!op.valid() || !PassesThrough(module.kind(op)) || module.op(op).operand_count == 0) return value;
    value = module.operands(op)[0];
  }
  return value;
}

bool IsUpdate(OpKind kind) { return kind == OpKind::kDynamicUpdateSlice || kind == OpKind::kScatter; }

// The operand of a fusion that `value` of its body is; nothing for others.
std::optional<size_t> ParameterIndex(const ir::Module& module, ir::BlockId body, ir::ValueId value) {
  if (!value.valid()) return std::nullopt;
  const ir::Value& v = module.value(value);
  if (!v.is_argument || v.owner != body.value) return std::nullopt;
  return v.index;
}

// A transpose that only renames dimensions: its result's layout is the operand's order.
bool IsLayoutChange(const ir::Module& module, ir::OpId op) {
  const std::string_view* layout = module.attribute(op, "result_layout");
  const auto permutation = ir::IntegersAttribute(module, op, "permutation");
  const auto minor_to_major = layout == nullptr ? std::nullopt : ir::AsIntegers(*layout);
  if (!permutation || !minor_to_major || minor_to_major->size() != permutation->size()) return false;
  const std::vector<int64_t>& sizes = module.type(module.result(op)).dims;
  int64_t before = static_cast<int64_t>(permutation->size());
  for (const int64_t d : *minor_to_major) {
    if (d < 0 || static_cast<size_t>(d) >= permutation->size()) return false;
    if (sizes[static_cast<size_t>(d)] == 1) continue;
    const int64_t source = (*permutation)[static_cast<size_t>(d)];
    if (source >= before) return false;
    before = source;
  }
  return true;
}

bool IsPointwise(const ir::Module& module, ir::OpId op, bool sees_reshapes) {
  const OpKind kind = module.kind(op);
  if (!sees_reshapes) return ir::Traits(kind).sort == OpSort::kElementwise || kind == OpKind::kCopy;
  if (kind == OpKind::kTranspose) return IsLayoutChange(module, op);
  return ir::Traits(kind).sort == OpSort::kElementwise || PassesThrough(kind) || kind == OpKind::kCopy;
}

// Whether every path from the parameter ends in pointwise ops of the result's number of elements, or in reductions that
// only the kernel's result needs: these read each element where another result is written.
bool PointwiseBody(const ir::Module& module, ir::BlockId body, size_t parameter, int64_t elements, bool sees_reshapes) {
  const auto& ops = module.block(body).ops;
  constexpr size_t kMostOps = 2000;
  if (ops.size() > kMostOps) return false;
  std::vector<ir::ValueId> reached = {module.arguments(body)[parameter]};
  std::vector<ir::ValueId> reduced;
  for (const ir::OpId op : ops) {
    const auto operands = module.operands(op);
    const auto reads = [&](const std::vector<ir::ValueId>& values) {
      return std::any_of(operands.begin(), operands.end(), [&](ir::ValueId value) {
        return std::find(values.begin(), values.end(), value) != values.end();
      });
    };
    if (ir::IsTerminator(module.kind(op))) continue;
    if (!reduced.empty() && reads(reduced)) return false;
    if (!reads(reached)) continue;
    const bool reduces = module.kind(op) == OpKind::kReduce;
    if (!reduces && !IsPointwise(module, op, sees_reshapes)) return false;
    for (const ir::ValueId result : module.results(op)) {
      if (!reduces && module.type(result).element_count() != elements) return false;
      (reduces ? reduced : reached).push_back(result);
    }
  }
  return true;
}

// Whether `update`, in a fusion's body, alone reads `old`, at the place that it writes to.
bool ReadsInPlace(const ir::Module& module, ir::BlockId body, ir::OpId update, ir::ValueId old) {
  const auto same_place = [&](ir::OpId op) {
    const auto of_update = module.operands(update);
    const auto of_op = module.operands(op);
    if (module.kind(op) != OpKind::kDynamicSlice || module.kind(update) != OpKind::kDynamicUpdateSlice) return false;
    return of_op.size() + 1 == of_update.size() && std::equal(of_op.begin() + 1, of_op.end(), of_update.begin() + 2) &&
           module.type_id(module.result(op)) == module.type_id(of_update[1]);
  };
  const auto& ops = module.block(body).ops;
  return std::none_of(ops.begin(), ops.end(), [&](ir::OpId op) {
    if (PassesThrough(module.kind(op)) || ir::IsTerminator(module.kind(op)) || same_place(op)) return false;
    const auto operands = module.operands(op);
    const auto reads = std::count_if(operands.begin(), operands.end(),
                                     [&](ir::ValueId value) { return Origin(module, value) == old; });
    return reads > (op == update ? 1 : 0);
  });
}

bool ReadsOnce(const ir::Module& module, ir::OpId op, size_t operand) {
  const auto operands = module.operands(op);
  return operand < operands.size() && std::count(operands.begin(), operands.end(), operands[operand]) == 1;
}

}  // namespace

ir::ValueId Returned(const ir::Module& module, ir::BlockId block, size_t index) {
  if (!block.valid() || module.block(block).ops.empty()) return ir::ValueId();
  const ir::OpId last = module.block(block).ops.back();
  if (!ir::IsTerminator(module.kind(last)) || index >= module.op(last).operand_count) return ir::ValueId();
  return module.operands(last)[index];
}

ir::OpId AsyncStartOf(const ir::Module& module, ir::OpId op) {
  for (int i = 0; i < kLongestChain; ++i) {
    const OpKind kind = module.kind(op);
    if (kind == OpKind::kAsyncStart) return op;
    if ((kind != OpKind::kAsyncDone && kind != OpKind::kAsyncUpdate) || module.op(op).operand_count == 0) break;
    op = module.defining_op(module.operands(op)[0]);
    if (!op.valid()) break;
  }
  return ir::OpId();
}

std::optional<size_t> ViewOf(const ir::Module& module, ir::OpId op, size_t result) {
  const OpKind kind = module.kind(op);
  const auto operands = module.operands(op);
  if (operands.empty()) return std::nullopt;
  if (kind == OpKind::kOptimizationBarrier) return result < operands.size() ? std::optional(result) : std::nullopt;
  if (PassesThrough(kind)) return 0;
  if (kind != OpKind::kCustomCall && kind != OpKind::kFusion) return std::nullopt;
  if (const auto written = WrittenAlias(module, op, result); written && *written < operands.size()) return written;
  return kind == OpKind::kCustomCall && IsAnnotation(module, op) ? std::optional<size_t>(0) : std::nullopt;
}

std::optional<size_t> UpdatedOperand(const ir::Module& module, ir::OpId op, size_t result) {
  const OpKind kind = module.kind(op);
  if (module.op(op).operand_count == 0) return std::nullopt;
  if (IsUpdate(kind)) return result;
  if (kind == OpKind::kAllReduce || kind == OpKind::kCrossReplicaSum) return result;
  if (kind == OpKind::kSort) return ReadsOnce(module, op, result) ? std::optional(result) : std::nullopt;
  if (kind != OpKind::kFusion) return std::nullopt;
  const ir::BlockId body = module.body(op);
  const ir::ValueId returned = Origin(module, Returned(module, body, result));
  const ir::OpId producer = returned.valid() ? module.defining_op(returned) : ir::OpId();
  if (!producer.valid() || !IsUpdate(module.kind(producer))) return std::nullopt;
  const ir::ValueId old = Origin(module, module.operands(producer)[0]);
  const auto parameter = ParameterIndex(module, body, old);
  return parameter && ReadsInPlace(module, body, producer, old) ? parameter : std::nullopt;
}

bool InPlaceReuse::May(ir::OpId op, size_t result, size_t operand) {
  const ir::Type& to = module_.type(module_.result(op, result));
  const ir::Type& from = module_.type(module_.operands(op)[operand]);
  if (to.element_count() != from.element_count()) return false;
  if (ir::ElementBits(to.element) != ir::ElementBits(from.element)) return false;
  if (module_.kind(op) != OpKind::kFusion) return ir::Traits(module_.kind(op)).sort == OpSort::kElementwise;
  const auto [known, is_new] = fusions_.try_emplace({op, result, operand}, false);
  if (is_new) known->second = IsPointwise(op, result, operand);
  return known->second;
}

bool InPlaceReuse::ReturnsWorkspace(ir::OpId op) {
  const auto [known, is_new] = calls_.try_emplace(op.value, false);
  if (is_new) known->second = memory::ReturnsWorkspace(module_, op);
  return known->second;
}

bool InPlaceReuse::IsPointwise(ir::OpId fusion, size_t result, size_t operand) const {
  const ir::BlockId body = module_.body(fusion);
  if (!body.valid() || operand >= module_.block(body).argument_count) return false;
  const int64_t elements = module_.type(module_.result(fusion, result)).element_count();
  return PointwiseBody(module_, body, operand, elements, sees_reshapes_);
}

}  // namespace hespas::memory
