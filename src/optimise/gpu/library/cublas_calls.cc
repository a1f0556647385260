// Dots, and the sums after them, as calls of cuBLAS.
#include <fmt/format.h>

#include <unordered_set>

#include "optimise/dataflow/build.h"
#include "optimise/dataflow/pass.h"
#include "optimise/passes/canonical_dots.h"

namespace hespas::optimise {
namespace {

using ir::OpKind;

std::string QuotedList(const Dimensions& values) {
  std::string out;
  for (const int64_t v : values) out += fmt::format("{}\"{}\"", out.empty() ? "" : ",", v);
  return "[" + out + "]";
}

// In the terms of XLA's backend_config for `__cublas$gemm`.
std::string GemmConfig(const ir::DotDimensions& dims, bool beta) {
  return fmt::format(
      R"({{"gemm_backend_config":{{"alpha_real":1,"beta":{},"dot_dimension_numbers":{{"lhs_contracting_dimensions":{},)"
      R"("rhs_contracting_dimensions":{},"lhs_batch_dimensions":{},"rhs_batch_dimensions":{}}},"epilogue":"DEFAULT"}}}})",
      beta ? 1 : 0, QuotedList(dims.lhs_contracting), QuotedList(dims.rhs_contracting), QuotedList(dims.lhs_batching),
      QuotedList(dims.rhs_batching));
}

std::string Quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

// cuBLAS calls replace the dots, with the sum that follows as their third operand (beta = 1).
class GemmRewriter {
 public:
  explicit GemmRewriter(Dataflow& flow) : flow_(flow), users_(flow.Users()) {
    for (const ValueId out : flow.outputs) returned_.insert(out);
  }

  void Run() {
    const std::vector<NodeId> order = flow_.order();
    for (const NodeId id : order) {
      if (flow_.node(id).kind == OpKind::kDotGeneral && flow_.node(id).operands.size() == 2) Visit(id);
    }
    flow_.Normalise();
  }

 private:
  void Visit(NodeId id) {
    const auto dims = CanonicalDimensions(flow_, flow_.node(id));
    if (!dims) return;
    const ValueId result = flow_.result(id);
    const NodeId sum = SideInputAfter(result);
    if (!sum.valid()) {
      flow_.Replace(result, Call(id, *dims, ValueId()));
      return;
    }
    const auto& addends = flow_.node(sum).operands;
    const ValueId other = addends[0] == through_ ? addends[1] : addends[0];
    const ValueId call = Call(id, *dims, ReshapeTo(flow_, other, flow_.type_id(result)));
    flow_.Replace(flow_.result(sum), ReshapeTo(flow_, call, flow_.type_id(flow_.result(sum))));
    taken_.insert(sum);
  }

  // The only consumer of a dot, through reshapes, where that adds a whole tensor of the same size.
  NodeId SideInputAfter(ValueId value) {
    through_ = value;
    while (users_[through_.index()].size() == 1 && returned_.count(through_) == 0) {
      const NodeId user = users_[through_.index()][0];
      const Node& node = flow_.node(user);
      if (node.kind == OpKind::kReshape) {
        through_ = flow_.result(user);
        continue;
      }
      return node.kind == OpKind::kAdd && MayTake(user) ? user : NodeId();
    }
    return NodeId();
  }

  // XLA tries the first addend that is a cuBLAS call and gives up where that one already has a third operand.
  bool MayTake(NodeId sum) const {
    const auto& addends = flow_.node(sum).operands;
    if (taken_.count(sum) > 0 || addends[0] == addends[1]) return false;
    const ValueId other = addends[0] == through_ ? addends[1] : addends[0];
    if (other == addends[0] && ComesFromDot(other)) return false;
    const Node* producer = flow_.ProducerNode(other);
    return producer == nullptr || (producer->kind != OpKind::kBroadcastInDim && producer->kind != OpKind::kConstant);
  }

  // A cuBLAS call, or a sum one has taken over, that nobody else reads.
  bool ComesFromDot(ValueId value) const {
    for (;;) {
      const NodeId id = flow_.producer(value);
      if (!id.valid() || users_[value.index()].size() != 1) return false;
      const Node& node = flow_.node(id);
      if (node.kind == OpKind::kDotGeneral || taken_.count(id) > 0) return true;
      if (node.kind != OpKind::kReshape) return false;
      value = node.operands[0];
    }
  }

  ValueId Call(NodeId dot, const ir::DotDimensions& dims, ValueId addend) {
    ir::Module& source = flow_.source();
    std::vector<ValueId> operands = flow_.node(dot).operands;
    if (addend.valid()) operands.push_back(addend);
    const ir::TypeId type = flow_.type_id(flow_.result(dot));
    const std::string config = GemmConfig(dims, addend.valid());
    std::vector<ir::Attribute> attributes = PrecisionAttributes(flow_, flow_.node(dot));
    attributes.push_back(MakeAttribute(source, "call_target_name", "\"__cublas$gemm\""));
    attributes.push_back(MakeAttribute(source, "backend_config", Quoted(config)));
    return flow_.result(flow_.Add({.name = "stablehlo.custom_call",
                                   .operands = operands,
                                   .results = {type},
                                   .attributes = std::move(attributes),
                                   .origin = flow_.node(dot).origin}));
  }

  Dataflow& flow_;
  UserTable users_;
  std::unordered_set<ValueId> returned_;
  std::unordered_set<NodeId> taken_;
  ValueId through_;
};

}  // namespace

void FormCublasCalls(Dataflow& flow, PassContext&) { GemmRewriter(flow).Run(); }

}  // namespace hespas::optimise
