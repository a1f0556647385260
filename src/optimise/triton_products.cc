// Products as Triton kernels: each takes in what makes its operands, and what follows it alone, where that moves no
// more memory (XLA's GemmFusion at its fusion level 2, with --xla_gpu_triton_gemm_any).
#include <algorithm>
#include <deque>
#include <string>
#include <unordered_set>

#include "optimise/canonical_dots.h"
#include "optimise/kernels.h"
#include "optimise/product_order.h"

namespace hespas::optimise {
namespace {

using ir::ElementKind;
using ir::OpKind;
using ir::OpSort;

constexpr size_t kInputsOfOperand = 4;
constexpr int64_t kTolerance = 1024;  // bytes that a kernel may read more

constexpr OpKind kOfAnyType[] = {OpKind::kConvert,  OpKind::kAbs,      OpKind::kNegate,  OpKind::kAdd,
                                 OpKind::kSubtract, OpKind::kMultiply, OpKind::kMaximum, OpKind::kMinimum,
                                 OpKind::kCompare,  OpKind::kSelect,   OpKind::kAnd,     OpKind::kOr,
                                 OpKind::kXor,      OpKind::kNot};
constexpr OpKind kOfFloats[] = {OpKind::kCosine, OpKind::kSine, OpKind::kTan,         OpKind::kTanh,
                                OpKind::kFloor,  OpKind::kCeil, OpKind::kExponential, OpKind::kExponentialMinusOne,
                                OpKind::kLog,    OpKind::kSqrt, OpKind::kLogPlusOne,  OpKind::kRsqrt,
                                OpKind::kCbrt,   OpKind::kErf,  OpKind::kDivide,      OpKind::kPower,
                                OpKind::kAtan2};
// Of a sum the same comes out as the sum of what comes out.
constexpr OpKind kLinear[] = {OpKind::kMultiply,  OpKind::kNegate,  OpKind::kReshape,
                              OpKind::kTranspose, OpKind::kConvert, OpKind::kBroadcastInDim};

bool IsIn(std::span<const OpKind> list, OpKind kind) { return std::find(list.begin(), list.end(), kind) != list.end(); }

bool IsHalfOrSingle(const ir::Type& type) {
  const ElementKind kind = type.element.kind;
  return !type.element.complex &&
         (kind == ElementKind::kF32 || kind == ElementKind::kF16 || kind == ElementKind::kBF16);
}

bool IsComputed(const Dataflow& flow, const Node& node) {
  if (node.result_count != 1 || !node.bodies.empty()) return false;
  if (ir::Traits(node.kind).sort != OpSort::kElementwise) return true;
  const auto& dims = flow.type(node.first_result).dims;
  for (const WireId operand : node.operands) {
    if (flow.type(operand).dims != dims) return false;
  }
  if (IsIn(kOfAnyType, node.kind)) return true;
  return IsIn(kOfFloats, node.kind) && IsHalfOrSingle(flow.type(node.operands[0]));
}

// A number that stands for all elements.
bool IsSplat(const Dataflow& flow, WireId wire) {
  const Node* maker = flow.MakerNode(wire);
  return maker != nullptr && maker->kind == OpKind::kConstant && ClassOf(flow, *maker) == FusionClass::kCheap;
}

bool IsBroadcast(const Node* node) { return node != nullptr && node->kind == OpKind::kBroadcastInDim; }

class Former {
 public:
  Former(Dataflow& flow, PassContext& context)
      : flow_(flow),
        context_(context),
        users_(flow.Users()),
        returned_(flow.outputs.begin(), flow.outputs.end()),
        place_(flow.node_count(), 0),
        taken_(flow.node_count(), 0) {
    for (size_t i = 0; i < flow.order().size(); ++i) place_[flow.order()[i].index()] = i;
  }

  void Run() {
    KernelFormer former(flow_);
    const std::vector<NodeId> order = flow_.order();
    for (const NodeId id : order) {
      if (flow_.node(id).kind == OpKind::kDotGeneral) Form(id, former);
    }
    flow_.Normalise();
  }

 private:
  void Form(NodeId dot, KernelFormer& former) {
    const Node& node = flow_.node(dot);
    const auto dims = CanonicalDimensions(flow_, node);
    if (!dims || node.operands.size() != 2 || !IsHalfOrSingle(flow_.type(node.operands[0])) ||
        !IsHalfOrSingle(flow_.type(node.first_result)))
      return;
    members_.clear();
    enum : uint32_t { kSummed, kLeft, kRight, kBatch };
    const auto labels = [&](size_t operand, const Dimensions& summed, const Dimensions& batch) {
      std::vector<uint32_t> out(flow_.type(node.operands[operand]).dims.size(), operand == 0 ? kLeft : kRight);
      for (const int64_t dimension : summed) out[static_cast<size_t>(dimension)] = kSummed;
      for (size_t i = 0; i < batch.size(); ++i) out[static_cast<size_t>(batch[i])] = static_cast<uint32_t>(kBatch + i);
      return out;
    };
    const auto left = labels(0, dims->lhs_contracting, dims->lhs_batching);
    const auto right = labels(1, dims->rhs_contracting, dims->rhs_batching);
    Divisible divisible{.label = kLeft};
    TakeProducers(node.operands[0], left, kLeft, divisible);
    Divisible whole;
    TakeProducers(node.operands[1], right, kRight, whole);
    members_.push_back(dot);
    std::vector<uint32_t> made(dims->lhs_batching.size());
    for (size_t i = 0; i < made.size(); ++i) made[i] = static_cast<uint32_t>(kBatch + i);
    made.insert(made.end(), static_cast<size_t>(std::count(left.begin(), left.end(), kLeft)), kLeft);
    made.insert(made.end(), static_cast<size_t>(std::count(right.begin(), right.end(), kRight)), kRight);
    const NodeId root = TakeReaders(dot, OrderOf(flow_.type(node.first_result).dims, made), divisible);
    std::sort(members_.begin(), members_.end(),
              [&](NodeId a, NodeId b) { return place_[a.index()] < place_[b.index()]; });
    members_.erase(std::unique(members_.begin(), members_.end()), members_.end());
    if (context_.explanations != nullptr) Explain(dot);
    former.Form({&root, 1}, members_, "kCustom");
  }

  // Breadth first from an operand; what would need more inputs than a kernel has waits for others to need fewer.
  void TakeProducers(WireId operand, const std::vector<uint32_t>& labels, uint32_t beside, Divisible& divisible) {
    struct Open {
      WireId wire;
      ProductOrder order;
    };
    std::deque<Open> open{{operand, OrderOf(flow_.type(operand).dims, labels)}};
    std::unordered_set<WireId> seen{operand};
    size_t inputs = 1;
    for (size_t waiting = 0; open.size() > waiting;) {
      Open next = std::move(open.front());
      open.pop_front();
      const NodeId maker = flow_.maker(next.wire);
      const size_t more = maker.valid() ? flow_.node(maker).operands.size() : 1;
      if (inputs + more > kInputsOfOperand + 1) {
        open.push_back(std::move(next));
        ++waiting;
        continue;
      }
      waiting = 0;
      const auto orders = OrdersBefore(next.wire, next.order, beside, divisible);
      if (!orders) continue;
      members_.push_back(maker);
      --inputs;
      const auto& operands = flow_.node(maker).operands;
      for (size_t i = 0; i < operands.size(); ++i) {
        if (!seen.insert(operands[i]).second) continue;
        ++inputs;
        open.push_back({operands[i], (*orders)[i]});
      }
    }
  }

  // The orders of what a wire's maker reads; nothing where the maker stays outside.
  std::optional<std::vector<ProductOrder>> OrdersBefore(WireId wire, const ProductOrder& order, uint32_t beside,
                                                        Divisible& divisible) const {
    const NodeId id = flow_.maker(wire);
    if (!id.valid() || taken_[id.index()] || !IsComputed(flow_, flow_.node(id)) || IsJoined(wire)) return std::nullopt;
    const Node& node = flow_.node(id);
    if (IsSplat(flow_, wire)) return std::vector<ProductOrder>{};
    auto orders = OrdersOfOperands(flow_, node, order, beside);
    Divisible divided = divisible;
    if (!orders || !std::all_of(orders->begin(), orders->end(), [&](auto& o) { return CanTile(o, divided); })) {
      return std::nullopt;
    }
    if (!ReadsSpread(node) && !PaysBefore(id)) return std::nullopt;
    divisible = divided;
    return orders;
  }

  bool IsJoined(WireId wire) const {
    const auto& users = users_[wire.index()];
    return std::any_of(users.begin(), users.end(), [&](NodeId user) {
      return flow_.node(user).kind == OpKind::kConcatenate || flow_.node(user).kind == OpKind::kDynamicSlice;
    });
  }

  // Of two values the one is a number or a parameter of the program, spread; not where a view stands between, as for
  // XLA behind dimensions of size 1.
  bool ReadsSpread(const Node& node) const {
    if (node.operands.size() != 2 || ir::Traits(node.kind).sort != OpSort::kElementwise) return false;
    return std::any_of(node.operands.begin(), node.operands.end(), [&](WireId operand) {
      const Node* maker = flow_.MakerNode(operand);
      return IsSplat(flow_, operand) ||
             (IsBroadcast(maker) && IsGiven(maker->operands[0]) && IsDense(maker->operands[0]));
    });
  }

  bool IsDense(WireId wire) const {
    const auto& dims = flow_.type(wire).dims;
    return std::find(dims.begin(), dims.end(), 1) == dims.end();
  }

  bool IsGiven(WireId wire) const {
    const Node* maker = flow_.MakerNode(wire);
    return maker == nullptr || maker->kind == OpKind::kConstant;
  }

  size_t UsesOf(WireId wire) const { return users_[wire.index()].size() + returned_.count(wire); }

  int64_t ReadMinusWritten(const Node& node) const {
    int64_t bytes = -flow_.ByteSize(node.first_result);
    for (const WireId operand : node.operands) bytes += IsSplat(flow_, operand) ? 0 : flow_.ByteSize(operand);
    return bytes;
  }

  bool PaysBefore(NodeId id) const {
    const Node& node = flow_.node(id);
    if (ReadMinusWritten(node) <= kTolerance) return true;
    if (UsesOf(node.first_result) > 1) return false;
    return std::all_of(node.operands.begin(), node.operands.end(), [&](WireId operand) {
      return IsGiven(operand) && (node.kind == OpKind::kSlice || UsesOf(operand) == 1);
    });
  }

  // The last op of the kernel.
  NodeId TakeReaders(NodeId dot, ProductOrder order, Divisible& divisible) {
    NodeId last = dot;
    for (;;) {
      taken_[last.index()] = 1;
      const WireId wire = flow_.result(last);
      if (UsesOf(wire) != 1 || returned_.count(wire) != 0) return last;
      const NodeId next = users_[wire.index()][0];
      const Node& node = flow_.node(next);
      if (!IsIn(kLinear, node.kind) || !IsComputed(flow_, node) || !ReadsLittleBeside(node, wire)) return last;
      auto after = OrderOfResult(flow_, node, order);
      if (!after || !CanTile(*after, divisible)) return last;
      if (ReadMinusWritten(node) < -kTolerance && returned_.count(node.first_result) == 0) return last;
      for (const WireId operand : node.operands) TakeSpread(operand, wire);
      members_.push_back(next);
      order = std::move(*after);
      last = next;
    }
  }

  bool ReadsLittleBeside(const Node& node, WireId wire) const {
    return std::all_of(node.operands.begin(), node.operands.end(), [&](WireId operand) {
      if (operand == wire || IsSplat(flow_, operand) || !flow_.maker(operand).valid()) return true;
      const Node* maker = flow_.MakerNode(operand);
      return IsBroadcast(maker) && (IsGiven(maker->operands[0]) || flow_.type(maker->operands[0]).element_count() == 1);
    });
  }

  void TakeSpread(WireId operand, WireId product) {
    const NodeId maker = flow_.maker(operand);
    if (operand != product && maker.valid()) members_.push_back(maker);
  }

  void Explain(NodeId dot) const {
    const std::string name = "product at " + std::to_string(dot.index());
    for (const NodeId id : members_) {
      context_.explanations->push_back(
          {.op = std::string(flow_.source().name(flow_.node(id).name)),
           .kernel = name,
           .reason = id == dot ? "a product: a Triton kernel" : "the product's kernel computes it and moves no more",
           .origin = flow_.node(id).origin});
    }
  }

  Dataflow& flow_;
  PassContext& context_;
  UserTable users_;
  std::unordered_set<WireId> returned_;
  std::vector<size_t> place_;  // by node: in the order of the region
  std::vector<char> taken_;    // by node: a product, or what follows it in its kernel
  std::vector<NodeId> members_;
};

}  // namespace

void FormTritonProducts(Dataflow& flow, PassContext& context) { Former(flow, context).Run(); }

}  // namespace hespas::optimise
