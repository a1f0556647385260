// Kernels taken apart again, so that any StableHLO compiler can run an optimised program and check its numbers.
#include <fmt/format.h>

#include "optimise/dataflow/convolution_call.h"
#include "optimise/dataflow/pass.h"

namespace hespas::optimise {
namespace {

using ir::OpKind;

class Expander {
 public:
  explicit Expander(Dataflow& flow) : flow_(flow) {}

  // Fusions first, as they may hold cuBLAS and cuDNN calls; fusions within fusions come in further rounds.
  void Run() {
    ForEach(OpKind::kCopy, &Expander::Forward);
    ForEach(OpKind::kAsyncDone, &Expander::Unite);
    constexpr int kRounds = 8;
    for (int round = 0; round < kRounds && ForEach(OpKind::kFusion, &Expander::Inline); ++round) {
    }
    ForEach(OpKind::kCustomCall, &Expander::ReplaceCall);
    ForEach(OpKind::kReduceScatter, &Expander::Part);
    ForEach(OpKind::kAllGather, &Expander::Part);
    ForEach(OpKind::kAllReduce, &Expander::Part);
  }

 private:
  bool ForEach(OpKind kind, void (Expander::*visit)(NodeId)) {
    bool found = false;
    const std::vector<NodeId> order = flow_.order();
    for (const NodeId id : order) {
      if (flow_.node(id).kind != kind) continue;
      found = true;
      (this->*visit)(id);
    }
    if (found) flow_.Normalise();
    return found;
  }

  void Forward(NodeId id) { flow_.Replace(flow_.result(id), flow_.node(id).operands[0]); }

  // The start and done of a collective as one.
  void Unite(NodeId id) {
    const NodeId start = flow_.producer(flow_.node(id).operands[0]);
    if (!start.valid() || flow_.node(start).bodies.size() != 1) return;
    const Dataflow& body = *flow_.node(start).bodies[0];
    Node made = body.Copy(body.order()[0]);
    made.operands = flow_.node(start).operands;
    std::vector<ir::TypeId> types;
    for (uint32_t r = 0; r < flow_.node(id).result_count; ++r) types.push_back(flow_.type_id(flow_.result(id, r)));
    flow_.node(start).dead = flow_.node(id).dead = true;
    const NodeId united = flow_.Add(std::move(made), types);
    for (uint32_t r = 0; r < types.size(); ++r) flow_.Replace(flow_.result(id, r), flow_.result(united, r));
  }

  void Inline(NodeId id) {
    if (flow_.node(id).bodies.size() != 1) return;
    const std::unique_ptr<Dataflow> body = std::move(flow_.node(id).bodies[0]);
    flow_.node(id).bodies.clear();
    std::vector<ValueId> values(body->value_count());
    for (size_t i = 0; i < body->parameters.size(); ++i) {
      values[body->parameters[i].index()] = flow_.node(id).operands[i];
    }
    for (const NodeId inner : body->order()) {
      Node copy = body->Copy(inner);
      copy.bodies = std::move(body->node(inner).bodies);
      for (ValueId& operand : copy.operands) operand = values[operand.index()];
      std::vector<ir::TypeId> types;
      for (uint32_t r = 0; r < body->node(inner).result_count; ++r)
        types.push_back(body->type_id(body->result(inner, r)));
      const NodeId made = flow_.Add(std::move(copy), types);
      for (uint32_t r = 0; r < types.size(); ++r) values[body->result(inner, r).index()] = flow_.result(made, r);
    }
    for (size_t r = 0; r < body->outputs.size(); ++r) {
      flow_.Replace(flow_.result(id, r), values[body->outputs[r].index()]);
    }
  }

  // StableHLO has reduce-scatters of one operand only, and XLA's CPU compiler runs other collectives of one; each part
  // gets a channel of its own.
  void Part(NodeId id) {
    constexpr int64_t kFirstChannel = 100'000;
    const uint32_t count = flow_.node(id).result_count;
    if (count < 2 || flow_.node(id).own_operand_count() != count) return;
    for (uint32_t r = 0; r < count; ++r) {
      Node made = flow_.Copy(id);
      made.operands = {flow_.node(id).operands[r]};
      const int64_t channel = kFirstChannel + static_cast<int64_t>(flow_.node_count());
      SetAttribute(flow_.source(), made, "channel_handle",
                   fmt::format("#stablehlo.channel_handle<handle = {}, type = 0>", channel));
      const ValueId old = flow_.result(id, r);
      const std::vector<ir::TypeId> types{flow_.type_id(old)};
      flow_.Replace(old, flow_.result(flow_.Add(std::move(made), types)));
    }
  }

  void ReplaceCall(NodeId id) {
    const std::string_view* target = flow_.attribute(flow_.node(id), "call_target_name");
    const std::string_view* config = flow_.attribute(flow_.node(id), "backend_config");
    if (const auto call = ConvolutionCallOf(flow_, flow_.node(id))) return ReplaceConvolution(id, *call);
    if (target == nullptr || config == nullptr || target->find("__cublas$gemm") == std::string_view::npos) return;
    const std::vector<ValueId> operands = flow_.node(id).operands;
    const std::string numbers =
        ir::DotDimensionsText({.lhs_batching = NumbersBehind(*config, "lhs_batch_dimensions"),
                               .rhs_batching = NumbersBehind(*config, "rhs_batch_dimensions"),
                               .lhs_contracting = NumbersBehind(*config, "lhs_contracting_dimensions"),
                               .rhs_contracting = NumbersBehind(*config, "rhs_contracting_dimensions")});
    const ValueId old = flow_.result(id);
    const ir::TypeId type = flow_.type_id(old);
    ValueId made =
        flow_.result(flow_.Add({.name = "stablehlo.dot_general",
                                .operands = {operands[0], operands[1]},
                                .results = {type},
                                .attributes = {MakeAttribute(flow_.source(), "dot_dimension_numbers", numbers)}}));
    if (operands.size() > 2) {
      made = flow_.result(flow_.Add({.name = "stablehlo.add", .operands = {made, operands[2]}, .results = {type}}));
    }
    flow_.Replace(old, made);
  }

  void ReplaceConvolution(NodeId id, const ConvolutionCall& call) {
    ir::Module& source = flow_.source();
    const Node& node = flow_.node(id);
    const ValueId old = flow_.result(id);
    const ir::TypeId type = flow_.type_id(old);
    std::vector<ValueId> addends;
    if (HasBias(flow_, node))
      addends.push_back(BroadcastInDim(flow_, node.operands[2], type, {call.labels.output_feature}));
    if (HasSideInput(flow_, node)) addends.push_back(node.operands[3]);
    const bool activated = IsActivated(flow_, node);
    NodeInit made{.name = "stablehlo.convolution",
                  .operands = {node.operands[0], node.operands[1]},
                  .results = {type},
                  .attributes = {LabelsAttribute(source, ExchangeLabels(call.role, call.labels))},
                  .origin = node.origin};
    for (const ir::Attribute& attribute : node.attributes) {
      const std::string_view name = source.name(attribute.name);
      if (name != "call_target_name" && name != "dimension_numbers" && name != "backend_config")
        made.attributes.push_back(attribute);
    }
    if (call.role == ConvolutionRole::kInputGradient) {
      made.operands[1] = flow_.result(
          flow_.Add({.name = "stablehlo.reverse",
                     .operands = {made.operands[1]},
                     .results = {flow_.type_id(made.operands[1])},
                     .attributes = {MakeAttribute(source, "dimensions", ArrayText(call.labels.kernel_spatial))}}));
    }
    ValueId out = flow_.result(flow_.Add(std::move(made)));
    for (const ValueId addend : addends)
      out = flow_.result(flow_.Add({.name = "stablehlo.add", .operands = {out, addend}, .results = {type}}));
    if (activated) {
      const ValueId zeros = BroadcastInDim(flow_, Zeros(flow_, TensorLike(source, type, {})), type, {});
      out = flow_.result(flow_.Add({.name = "stablehlo.maximum", .operands = {out, zeros}, .results = {type}}));
    }
    flow_.Replace(old, out);
  }

  Dataflow& flow_;
};

}  // namespace

void ExpandKernels(Dataflow& flow, PassContext&) { Expander(flow).Run(); }

}  // namespace hespas::optimise
