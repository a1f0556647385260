#include "optimise/schedule/schedule_costs.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "optimise/gpu/decisions.h"
#include "optimise/gpu/rules.h"

namespace hespas::optimise {
namespace {

using ir::OpKind;

constexpr double kNanosecond = 1e-9;

// Flops of the matmuls of one batch: with sizes BMK, BKN and BMN it is the root of the sizes' product by that of
// B.
double FlopsOf(const Dataflow& flow, const Node& node) {
  if (node.kind != OpKind::kCustomCall || node.operands.size() < 2) return 0;
  const auto& dims = flow.type(node.first_result).dims;
  double batch = 1;
  for (size_t d = 0; d + 2 < dims.size(); ++d) batch *= static_cast<double>(dims[d]);
  double product = static_cast<double>(flow.type(node.first_result).element_count());
  for (size_t i = 0; i < 2; ++i) product *= static_cast<double>(flow.type(node.operands[i]).element_count());
  return 2 * std::sqrt(product / std::max(1.0, batch));
}

double BytesOf(const Dataflow& flow, std::span<const ValueId> operands, const Node& made) {
  double bytes = 0;
  for (const ValueId operand : operands) bytes += static_cast<double>(flow.ByteSize(operand));
  for (uint32_t r = 0; r < made.result_count; ++r)
    bytes += static_cast<double>(flow.ByteSize(ValueId(made.first_result.value + r)));
  return bytes;
}

int64_t Nanoseconds(double seconds) {
  return std::max<int64_t>(gpu_rules::kLeastNanoseconds, std::llround(seconds / kNanosecond));
}

int64_t TimeOf(const Dataflow& flow, const Node& node, const GpuFigures& gpu) {
  const double memory = BytesOf(flow, node.operands, node) / gpu.bytes_per_second;
  const double lanes = 2 * gpu.sm_count * gpu.lanes_per_sm * gpu.clock_hz;  // multiply and add
  return Nanoseconds(std::max(memory, FlopsOf(flow, node) / (gpu_rules::kMatrixSpeedup * lanes)));
}

// The full buffer is what an all-gather or a reduce-scatter is given or makes, the larger one; an all-reduce's operand
// is as large as its result.
int64_t LatencyOf(const Dataflow& flow, const Node& done, const GpuFigures& gpu) {
  const Node* start = flow.ProducerNode(done.operands[0]);
  const std::vector<ValueId> none;
  const double made = BytesOf(flow, none, done);
  const double given = start == nullptr ? 0 : BytesOf(flow, start->operands, {});
  const bool reduces = start != nullptr && !start->bodies.empty() && !start->bodies[0]->order().empty() &&
                       start->bodies[0]->node(start->bodies[0]->order()[0]).kind == OpKind::kAllReduce;
  const CollectiveFigures& figures = reduces ? gpu.all_reduce : gpu.gather;
  return Nanoseconds(figures.start_seconds + std::max(made, given) / figures.bytes_per_second);
}

}  // namespace

ScheduleCosts CostsOf(const Dataflow& flow, const std::vector<Role>& roles, PassContext& context) {
  const GpuFigures& gpu = context.gpu;
  const bool by_model = gpu.capability >= kPlansByModel && context.flags.plans_by_model;
  ScheduleCosts out{.least = by_model ? gpu_rules::kLeastNanoseconds : 1};
  for (size_t i = 0; i < roles.size(); ++i) {
    const Node& node = flow.node(flow.order()[i]);
    if (!by_model) {
      out.costs.push_back(TicksOf(node.kind, flow.attribute(node, "fusion_kind")));
      continue;
    }
    out.latencies.push_back(roles[i] == Role::kDone ? LatencyOf(flow, node, gpu) : 0);
    const int64_t cost = roles[i] == Role::kWork ? TimeOf(flow, node, gpu) : gpu_rules::kLeastNanoseconds;
    out.costs.push_back(roles[i] == Role::kNothing ? 0 : cost);
  }
  if (by_model && context.decisions != nullptr) {
    context.decisions->Ask(RatesOf(gpu), gpu);
  }
  return out;
}

}  // namespace hespas::optimise
