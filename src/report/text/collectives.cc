#include "report/text/collectives.h"

#include <fmt/format.h>

#include <optional>

#include "report/step/account.h"

namespace hespas::report {
namespace {

using hardware::NativeCollective;
using trace::Collective;

struct Row {
  Collective kind;
  std::string_view name;
  std::optional<NativeCollective> native;
};

constexpr Row kRows[] = {{Collective::kAllReduce, "all_reduce", NativeCollective::kAllReduce},
                         {Collective::kAllGather, "all_gather", NativeCollective::kAllGather},
                         {Collective::kAllToAll, "all_to_all", NativeCollective::kAllToAll},
                         {Collective::kReduceScatter, "reduce_scatter", NativeCollective::kReduceScatter},
                         {Collective::kReduce, "reduce", std::nullopt},
                         {Collective::kGather, "gather", std::nullopt},
                         {Collective::kScatter, "scatter", std::nullopt},
                         {Collective::kBroadcast, "broadcast", std::nullopt},
                         {Collective::kReduceScatterBlock, "reduce_scatter_block", std::nullopt},
                         {Collective::kBarrier, "barrier", std::nullopt}};

const Row& RowOf(Collective kind) {
  for (const Row& row : kRows) {
    if (row.kind == kind) return row;
  }
  return kRows[0];
}

std::string NameOf(const hardware::Algorithm& algorithm) {
  std::string_view name;
  switch (algorithm.kind) {
    case hardware::AlgorithmKind::kRing:
      name = "ring";
      break;
    case hardware::AlgorithmKind::kDirect:
      name = "direct";
      break;
    case hardware::AlgorithmKind::kHalvingDoubling:
      name = "halving-doubling";
      break;
    case hardware::AlgorithmKind::kDoubleBinaryTree:
      name = "double binary tree";
      break;
  }
  return fmt::format("{}{}", algorithm.flat ? "one " : "", name);
}

std::string AlgorithmOf(const Row& row, const hardware::System* system) {
  if (system == nullptr || !row.native) return "";
  const hardware::CollectiveSettings& settings = system->of(*row.native);
  if (!settings.custom.empty()) return "custom";
  if (!settings.algorithms) return "ring";
  std::string out;
  for (const hardware::Algorithm& algorithm : *settings.algorithms) {
    out += (out.empty() ? "" : ", then ") + NameOf(algorithm);
  }
  return out;
}

// Bytes that leave one member: of the full buffer n-1 of n parts, twice for an all-reduce. An all-gather's size is a
// member's own part.
double WireBytes(Collective kind, double bytes, double members) {
  if (members < 2) return 0;
  const double part = (members - 1) / members;
  if (kind == Collective::kAllGather) return bytes * (members - 1);
  return kind == Collective::kAllReduce ? 2 * bytes * part : bytes * part;
}

}  // namespace

std::vector<CollectiveRow> CollectiveRows(const StepView& step, const hardware::System* system) {
  std::vector<CollectiveRow> rows;
  if (step.simulated == nullptr) return rows;
  const NodeIndex nodes(step.traces);
  for (const result::CollectiveUse& use : step.simulated->collectives) {
    const trace::Node& node = nodes.at(use.rank, use.node);
    const Row& kind = RowOf(node.collective);
    const double seconds =
        step.simulated->time(use.end - use.start - std::min(use.waited, use.end - use.start)).seconds();
    const double bytes = WireBytes(node.collective, static_cast<double>(use.bytes), use.members);
    rows.push_back({.use = &use,
                    .op = std::string(kind.name),
                    .algorithm = use.model == "calibrated" ? use.algorithm : AlgorithmOf(kind, system),
                    .block = node.block,
                    .bandwidth = seconds > 0 ? bytes / seconds : 0});
  }
  return rows;
}

}  // namespace hespas::report
