// Dots, and the sums behind them, as calls of the matrix library.
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

// Library calls take over the dots, with the sum that follows as their third operand (beta = 1).
class LibraryCaller {
 public:
  explicit LibraryCaller(Dataflow& flow) : flow_(flow), users_(flow.Users()) {
    for (const WireId out : flow.outputs) returned_.insert(out);
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
    const WireId result = flow_.result(id);
    const NodeId sum = SumAfter(result);
    if (!sum.valid()) {
      flow_.Replace(result, Call(id, *dims, WireId()));
      return;
    }
    const auto& addends = flow_.node(sum).operands;
    const WireId other = addends[0] == through_ ? addends[1] : addends[0];
    const WireId call = Call(id, *dims, ReshapeTo(flow_, other, flow_.type_id(result)));
    flow_.Replace(flow_.result(sum), ReshapeTo(flow_, call, flow_.type_id(flow_.result(sum))));
    taken_.insert(sum);
  }

  // The only reader of a dot, through reshapes, where that adds a whole tensor of the same size.
  NodeId SumAfter(WireId wire) {
    through_ = wire;
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

  // XLA tries the first addend that is a library call and gives up where that one already has a third operand.
  bool MayTake(NodeId sum) const {
    const auto& addends = flow_.node(sum).operands;
    if (taken_.count(sum) > 0 || addends[0] == addends[1]) return false;
    const WireId other = addends[0] == through_ ? addends[1] : addends[0];
    if (other == addends[0] && ComesFromDot(other)) return false;
    const Node* maker = flow_.MakerNode(other);
    return maker == nullptr || (maker->kind != OpKind::kBroadcastInDim && maker->kind != OpKind::kConstant);
  }

  // A library call, or a sum one has taken over, that nobody else reads.
  bool ComesFromDot(WireId wire) const {
    for (;;) {
      const NodeId id = flow_.maker(wire);
      if (!id.valid() || users_[wire.index()].size() != 1) return false;
      const Node& node = flow_.node(id);
      if (node.kind == OpKind::kDotGeneral || taken_.count(id) > 0) return true;
      if (node.kind != OpKind::kReshape) return false;
      wire = node.operands[0];
    }
  }

  WireId Call(NodeId dot, const ir::DotDimensions& dims, WireId addend) {
    ir::Module& source = flow_.source();
    std::vector<WireId> operands = flow_.node(dot).operands;
    if (addend.valid()) operands.push_back(addend);
    const ir::TypeId type = flow_.type_id(flow_.result(dot));
    const std::string config = GemmConfig(dims, addend.valid());
    std::vector<ir::Attribute> attributes = PrecisionAttributes(flow_, flow_.node(dot));
    attributes.push_back(MakeAttribute(source, "call_target_name", "\"__cublas$gemm\""));
    attributes.push_back(MakeAttribute(source, "backend_config", Quoted(config)));
    return flow_.result(flow_.Add({.name = "stablehlo.custom_call",
                                   .operands = std::move(operands),
                                   .results = {type},
                                   .attributes = std::move(attributes),
                                   .origin = flow_.node(dot).origin}));
  }

  Dataflow& flow_;
  UserTable users_;
  std::unordered_set<WireId> returned_;
  std::unordered_set<NodeId> taken_;
  WireId through_;
};

}  // namespace

void FormLibraryCalls(Dataflow& flow, PassContext&) { LibraryCaller(flow).Run(); }

}  // namespace hespas::optimise
