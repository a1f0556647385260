#include "simulate/engine/statistics.h"

#include <algorithm>

namespace hespas::simulate {

using trace::NodeKind;

Statistics::Union* Statistics::UnionOf(Npu& npu, const trace::Node& node) {
  switch (node.kind) {
    case NodeKind::kCompute:
      return node.is_cpu ? nullptr : &npu.compute;
    case NodeKind::kSend:
    case NodeKind::kReceive:
    case NodeKind::kCollective:
      return &npu.communication;
    default:
      return nullptr;
  }
}

void Statistics::Issued(uint32_t rank, const trace::Node& node) {
  Npu& npu = npus_[rank];
  const uint64_t now = core_.queue.now();
  if (Union* intervals = UnionOf(npu, node)) {
    intervals->Open(now);
  } else {
    npu.other_kinds = true;
  }
  if (!core_.options.record_nodes) return;
  npu.started.emplace_back(node.id, result_.intervals.size());
  result_.intervals.push_back({node.id, rank, now, now});
}

void Statistics::Ended(uint32_t rank, const trace::Node& node) {
  Npu& npu = npus_[rank];
  const uint64_t now = core_.queue.now();
  npu.last_end = now;
  if (Union* intervals = UnionOf(npu, node)) intervals->Close(now);
  if (!core_.options.record_nodes) return;
  const auto at = std::find_if(npu.started.begin(), npu.started.end(),
                               [&](const auto& started) { return started.first == node.id; });
  result_.intervals[at->second].end = now;
  *at = npu.started.back();
  npu.started.pop_back();
}

void Statistics::AddRoofline(uint32_t rank, uint64_t ticks, const result::RooflineAverages& averages) {
  Npu& npu = npus_[rank];
  const auto weight = static_cast<double>(ticks);
  npu.roofline_ticks += ticks;
  npu.roofline_sums.compute_bound += averages.compute_bound * weight;
  npu.roofline_sums.compute_utilisation += averages.compute_utilisation * weight;
  npu.roofline_sums.memory_utilisation += averages.memory_utilisation * weight;
  npu.roofline_sums.operation_intensity += averages.operation_intensity * weight;
}

void Statistics::Finished(uint32_t rank) {
  const Npu& npu = npus_[rank];
  result::RankResult& out = result_.ranks[rank];
  out.finish = core_.queue.now();
  out.exposed = out.finish - npu.busy;
  result_.order.push_back(rank);
  if (core_.orders) core_.finish_orders[core_.classes->class_of[rank]] = core_.queue.track().order;
  if (npu.other_kinds) return;
  out.wall = npu.last_end;
  if (npu.compute.any) out.gpu = npu.compute.length;
  if (npu.communication.any) out.comm = npu.communication.length;
  if (out.gpu && out.comm) {
    const uint64_t overlap = *out.gpu + *out.comm - *out.wall;  // wraps after idle time, as there
    if (overlap != 0) out.overlap = overlap;
  }
  if (!core_.system.roofline) return;
  const double all = 1.0 + static_cast<double>(npu.roofline_ticks);
  out.roofline = result::RooflineAverages{.compute_bound = npu.roofline_sums.compute_bound / all,
                                          .compute_utilisation = npu.roofline_sums.compute_utilisation / all,
                                          .memory_utilisation = npu.roofline_sums.memory_utilisation / all,
                                          .operation_intensity = npu.roofline_sums.operation_intensity / all};
}

}  // namespace hespas::simulate
