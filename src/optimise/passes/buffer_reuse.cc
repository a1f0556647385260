// Which kernels may write over what they read (xla/service/gpu/buffer_sharing.cc, transforms/copy_fusion.cc).
#include <algorithm>

#include "optimise/passes/donated_buffers.h"

namespace hespas::optimise {
namespace {

using ir::OpKind;
using ir::OpSort;

bool IsElementwise(OpKind kind) {
  return ir::Traits(kind).sort == OpSort::kElementwise || IsView(kind) || kind == OpKind::kCopy;
}

// What a fusion's result is, behind bitcasts.
const Node* RootOf(const Dataflow& body, size_t result) {
  const Node* node = body.ProducerNode(body.outputs[result]);
  while (node != nullptr && IsView(node->kind)) node = body.ProducerNode(node->operands[0]);
  return node;
}

// Follows one parameter of a fusion's body to its results.
class Way {
 public:
  Way(const Dataflow& body, size_t result) : body_(body), root_(RootOf(body, result)) {
    for (size_t i = 0; i < body.outputs.size() && hero_ == nullptr; ++i) {
      const Node* node = RootOf(body, i);
      if (node != nullptr && node->kind == OpKind::kReduce) hero_ = node;
    }
    reached_.resize(body.value_count(), 0);
  }

  bool LeadsInPlace(ValueId parameter, ValueId output) {
    reached_[parameter.index()] = 1;
    for (const NodeId id : body_.order()) {
      const Node& node = body_.node(id);
      if (!ReadsReached(node) || &node == hero_) continue;  // what is reduced first is behind all reads
      if (!IsElementwise(node.kind) && !IsUpdateInPlace(node)) return false;
      for (uint32_t r = 0; r < node.result_count; ++r) reached_[body_.result(id, r).index()] = 1;
    }
    return reached_[output.index()] != 0 && !StoresTwice() && !UpdatesBesideOthers(output);
  }

 private:
  bool ReadsReached(const Node& node) const {
    return std::any_of(node.operands.begin(), node.operands.end(),
                       [&](ValueId operand) { return reached_[operand.index()] != 0; });
  }

  // An update of the array, or a read of the very place that the root updates.
  bool IsUpdateInPlace(const Node& node) const {
    const auto is_reached = [&](size_t i) { return reached_[node.operands[i].index()] != 0; };
    if (node.kind == OpKind::kScatter) return &node == root_ && is_reached(0);
    if (node.kind == OpKind::kDynamicUpdateSlice) return is_reached(0) || &node == root_;
    if (node.kind != OpKind::kDynamicSlice || root_ == nullptr || root_->kind != OpKind::kDynamicUpdateSlice) {
      return false;
    }
    return node.operands[0] == root_->operands[0] && node.operands.size() + 1 == root_->operands.size() &&
           std::equal(node.operands.begin() + 1, node.operands.end(), root_->operands.begin() + 2);
  }

  // A copy inside the kernel may be written before the other result is read.
  bool StoresTwice() const {
    return std::any_of(body_.outputs.begin(), body_.outputs.end(), [&](ValueId out) {
      return reached_[out.index()] != 0 && std::count(body_.outputs.begin(), body_.outputs.end(), out) > 1;
    });
  }

  bool UpdatesBesideOthers(ValueId output) const {
    if (root_ == nullptr || IsElementwise(root_->kind)) return false;
    return std::any_of(body_.outputs.begin(), body_.outputs.end(),
                       [&](ValueId out) { return out != output && reached_[out.index()] != 0; });
  }

  const Dataflow& body_;
  const Node* root_;
  const Node* hero_ = nullptr;
  std::vector<char> reached_;  // by value
};

// The matrix that cuBLAS adds a matmul to.
bool AddsInPlace(const Dataflow& flow, const Node& call, size_t operand) {
  const std::string_view* target = flow.attribute(call, "call_target_name");
  return call.kind == OpKind::kCustomCall && operand == 2 && target != nullptr &&
         target->find("__cublas$") != std::string_view::npos;
}

}  // namespace

bool SharesBuffer(const Dataflow& flow, const Node& kernel, size_t operand, size_t result) {
  if (kernel.kind == OpKind::kAllReduce) return kernel.result_count == 1 || operand == result;
  if (AddsInPlace(flow, kernel, operand)) return true;
  if (kernel.kind != OpKind::kFusion || kernel.bodies.empty()) return false;
  const ir::Type& from = flow.type(kernel.operands[operand]);
  const ValueId to(kernel.first_result.index() + result);
  if (from.element_count() != flow.type(to).element_count() ||
      flow.ByteSize(kernel.operands[operand]) != flow.ByteSize(to)) {
    return false;
  }
  const Dataflow& body = *kernel.bodies[0];
  return Way(body, result).LeadsInPlace(body.parameters[operand], body.outputs[result]);
}

bool FusesCopies(const Node& fusion) {
  if (fusion.kind != OpKind::kFusion || fusion.bodies.empty()) return false;
  const Dataflow& body = *fusion.bodies[0];
  std::vector<char> reached(body.value_count(), 0);
  for (const ValueId parameter : body.parameters) reached[parameter.index()] = 1;
  for (const NodeId id : body.order()) {
    const Node& node = body.node(id);
    if (std::none_of(node.operands.begin(), node.operands.end(),
                     [&](ValueId operand) { return reached[operand.index()] != 0; })) {
      continue;
    }
    if (!IsElementwise(node.kind)) return false;
    for (uint32_t r = 0; r < node.result_count; ++r) reached[body.result(id, r).index()] = 1;
  }
  return true;
}

}  // namespace hespas::optimise
