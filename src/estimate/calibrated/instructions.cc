#include "estimate/calibrated/instructions.h"

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "estimate/calibrated/matmuls.h"
#include "estimate/fusion_cost.h"
#include "estimate/radix_sort.h"
#include "ir/attributes/op_attributes.h"
#include "ir/facts/fusion.h"
#include "ir/facts/library_call.h"
#include "ir/facts/op_weights.h"
#include "ir/facts/row_reduction.h"
#include "ir/op_kind.h"

namespace hespas::estimate::calibrated {
namespace {

using ir::OpKind;
using ir::OpSort;

constexpr Instructions kReduceWeight{1.5};  // of an input element
// Bounds, address and load of a window's element, beside what is done with it. Fitted to the two windowed kernels of a
// prefix sum and the max-pool with indices of data/programs on an H100.
constexpr Instructions kWindowElement{2.4};
constexpr Instructions kScatterWeight{4};
constexpr Instructions kMultiplyAdd{1};
constexpr double kConversions = 3;  // of a 16-bit float to 32 bits and back

Instructions Weight(OpKind kind) {
  const ir::OpWeight* known = ir::WeightOf(kind);
  if (known != nullptr && known->cores) return {.lanes = *known->cores, .special = known->special};
  switch (ir::Traits(kind).sort) {
    case OpSort::kElementwise:
      return {.lanes = 1};
    case OpSort::kReduction:
      return kReduceWeight;
    case OpSort::kScatter:
      return kScatterWeight;
    default:
      return {};
  }
}

// Special units take no 16-bit floats.
Instructions Weight(const ir::Module& module, ir::OpId op) {
  Instructions weight = Weight(module.kind(op));
  const bool narrow = module.op(op).result_count > 0 && ir::ElementBits(module.type(module.result(op)).element) < 32;
  if (weight.special > 0 && narrow) weight.lanes += kConversions;
  return weight;
}

double Elements(const ir::Module& module, ir::ValueId value) {
  return static_cast<double>(std::max<int64_t>(1, module.type(value).element_count()));
}

double ResultElements(const ir::Module& module, ir::OpId op) {
  return module.op(op).result_count == 0 ? 0 : Elements(module, module.result(op));
}

// How many elements of an op's input one evaluation of its result looks at.
double Fan(const ir::Module& module, ir::OpId op) {
  if (ir::Traits(module.kind(op)).sort != OpSort::kReduction || module.op(op).operand_count == 0) return 1;
  return std::max(1.0, Elements(module, module.operands(op)[0]) / ResultElements(module, op));
}

Instructions Evaluate(const ir::Module& module, ir::OpId op, double evaluations) {
  return Weight(module, op) * (evaluations * Fan(module, op));
}

double MultiplyAdds(const ir::Module& module, ir::OpId op) {
  const auto call = ir::LibraryCallOf(module, op);
  return call ? static_cast<double>(call->flops()) / 2 : 0;
}

bool ReducesRows(const ir::Module& module, ir::OpId reduction) {
  const auto reduced = ir::IntegersAttribute(module, reduction, "dimensions");
  return reduced && ir::ReducesRows(module.type(module.operands(reduction)[0]).dims, *reduced);
}

// XLA takes such a transpose for a loop: the contiguous dimension stays it (TransposesMinorDimension).
bool KeepsContiguous(const ir::Module& module, ir::OpId transpose) {
  const auto places = ir::IntegersAttribute(module, transpose, "permutation");
  return places && (places->empty() || places->back() + 1 == static_cast<int64_t>(places->size()));
}

// Of ops that XLA emits as a loop over their results or as reductions along rows. Reductions across rows, transposes
// through shared memory and ops that choose an address for each element are no such.
bool FollowsMemory(const ir::Module& module, ir::OpId op) {
  const OpKind kind = module.kind(op);
  if (kind == OpKind::kReduce) return ReducesRows(module, op);
  if (kind == OpKind::kTranspose) return KeepsContiguous(module, op);
  const OpSort sort = ir::Traits(kind).sort;
  return sort == OpSort::kElementwise || ir::IsTerminator(kind) || kind == OpKind::kConstant || kind == OpKind::kIota ||
         kind == OpKind::kReshape || kind == OpKind::kBitcast || kind == OpKind::kBroadcast ||
         kind == OpKind::kBroadcastInDim || kind == OpKind::kSlice || kind == OpKind::kDynamicSlice ||
         kind == OpKind::kDynamicUpdateSlice || kind == OpKind::kConcatenate || kind == OpKind::kPad;
}

class Fusion {
 public:
  Fusion(const ir::Module& module, ir::OpId fusion)
      : module_(module), tiled_(ir::IsTritonFusion(module, fusion)), ops_(FusedOps(module, fusion)) {}

  Instructions Count() {
    const bool once = tiled_ || IsRowWise();
    Instructions sum;
    for (size_t i = ops_.size(); i-- > 0;) {
      const ir::OpId op = ops_[i];
      const double own = WrittenElements(op);
      const auto needed = needed_.find(op.value);
      const double evaluations = once || needed == needed_.end() ? own : needed->second;
      sum = sum + Evaluate(module_, op, evaluations);
      Need(op, evaluations);
    }
    sum.streamed =
        !tiled_ && std::all_of(ops_.begin(), ops_.end(), [&](ir::OpId op) { return FollowsMemory(module_, op); });
    return sum;
  }

 private:
  // A parameter is updated in place: the kernel's threads are the update's elements.
  bool IsUpdateInPlace(ir::OpId op) const {
    return ir::UpdateOf(module_, op).valid() && !module_.defining_op(Origin(module_, module_.operands(op)[0])).valid();
  }

  double WrittenElements(ir::OpId op) const {
    return IsUpdateInPlace(op) ? Elements(module_, ir::UpdateOf(module_, op)) : ResultElements(module_, op);
  }

  // The part of an op's elements for which it evaluates that operand.
  static double Share(const ir::Module& module, ir::OpId op, ir::ValueId operand) {
    const OpKind kind = module.kind(op);
    const bool part = kind == OpKind::kConcatenate || kind == OpKind::kPad ||
                      (kind == OpKind::kDynamicUpdateSlice && operand == module.operands(op)[1]);
    return part ? std::min(1.0, Elements(module, operand) / ResultElements(module, op)) : 1;
  }

  // What `evaluations` of `op` ask of its operands; a matmul has each element of them made once.
  void Need(ir::OpId op, double evaluations) {
    if (ir::IsTerminator(module_.kind(op))) return;
    const bool matmul = ir::Traits(module_.kind(op)).sort == OpSort::kContraction;
    for (const ir::ValueId operand : module_.operands(op)) {
      const ir::OpId maker = module_.defining_op(operand);
      if (!maker.valid()) continue;
      double& needed = needed_[maker.value];
      const double asked = matmul || IsUpdateInPlace(op) ? Elements(module_, operand)
                                                         : evaluations * Fan(module_, op) * Share(module_, op, operand);
      needed = std::max(needed, asked);
    }
  }

  // Softmax-like: reduces, and returns as many elements as it reduced.
  bool IsRowWise() const {
    double reduced = 0;
    double largest = 0;
    for (const ir::OpId op : ops_) {
      if (ir::Traits(module_.kind(op)).sort == OpSort::kReduction) {
        reduced = std::max(reduced, Elements(module_, module_.operands(op)[0]));
      } else {
        largest = std::max(largest, ReturnedElements(op));
      }
    }
    return reduced > 0 && largest >= reduced;
  }

  double ReturnedElements(ir::OpId op) const {
    if (!ir::IsTerminator(module_.kind(op))) return 0;
    double elements = 0;
    for (const ir::ValueId value : module_.operands(op)) elements = std::max(elements, Elements(module_, value));
    return elements;
  }

  const ir::Module& module_;
  bool tiled_;
  std::vector<ir::OpId> ops_;
  std::unordered_map<uint32_t, double> needed_;  // evaluations, by op
};

}  // namespace

Instructions OpInstructions(const ir::Module& module, ir::OpId op) {
  if (const auto sort = RadixSortOf(module, op)) return {.lanes = sort->instructions};
  if (IsDepthwiseCall(module, op)) return (kMultiplyAdd + kWindowElement) * MultiplyAdds(module, op);
  const ir::ValueId update = module.kind(op) == OpKind::kScatter ? ir::UpdateOf(module, op) : ir::ValueId();
  Instructions sum = Evaluate(module, op, update.valid() ? Elements(module, update) : ResultElements(module, op));
  sum.streamed = FollowsMemory(module, op);
  return sum;
}

Instructions FusionInstructions(const ir::Module& module, ir::OpId fusion) { return Fusion(module, fusion).Count(); }

}  // namespace hespas::estimate::calibrated
