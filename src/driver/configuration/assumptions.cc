#include "driver/configuration/assumptions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <numeric>
#include <string>

#include "driver/configuration/kernel_costs.h"
#include "ir/facts/execution/trip_count.h"
#include "ir/facts/library_call.h"
#include "ir/walk.h"
#include "transform/retarget.h"

namespace hespas::driver {
namespace {

void AddAttribute(ir::Module& module, ir::OpId op, std::string_view name, std::string text) {
  const auto old = module.attributes(op);
  std::vector<ir::Attribute> attributes(old.begin(), old.end());
  attributes.push_back({module.InternName(name), module.Keep(std::move(text))});
  module.SetAttributes(op, attributes);
}

Error Bad(std::string message) {
  return MakeError(kBadAssumption, std::move(message), {},
                   "for example --branch-probabilities 0.9,0.1 --moe-imbalance 1.5");
}

Status Check(const Assumptions& assumptions) {
  const auto& probabilities = assumptions.branch_probabilities;
  double sum = 0;
  for (const double p : probabilities) {
    if (!(p >= 0 && p <= 1)) return Bad(fmt::format("{} is no probability", p));
    sum += p;
  }
  constexpr double kRounding = 1e-6;
  if (!probabilities.empty() && std::abs(sum - 1) > kRounding) {
    return Bad(fmt::format("the branch probabilities add up to {}", sum));
  }
  if (!(assumptions.moe_imbalance >= 1 && assumptions.moe_imbalance < 1e6)) {
    return Bad(fmt::format("--moe-imbalance {} is below 1", assumptions.moe_imbalance));
  }
  return {};
}

bool IsRagged(const ir::Module& module, ir::OpId op) {
  const ir::OpKind kind = module.kind(op);
  if (kind == ir::OpKind::kRaggedAllToAll || kind == ir::OpKind::kRaggedDot) return true;
  return ir::IsRaggedAllToAll(module.attribute(op, "call_target_name"));
}

// Ops that each assumption concerns.
struct Concerned {
  std::vector<ir::OpId> loops;
  std::vector<ir::OpId> branches;
  std::vector<ir::OpId> ragged;
};

Concerned ConcernedBy(const Assumptions& assumptions, const ir::Module& module) {
  const size_t branch_count = assumptions.branch_probabilities.size();
  Concerned out;
  ir::WalkNested(module, module.root(), [&](ir::OpId op) {
    const ir::OpKind kind = module.kind(op);
    const bool branches = kind == ir::OpKind::kCase || kind == ir::OpKind::kIf;
    if (kind == ir::OpKind::kWhile && !ir::TripCount(module, op)) out.loops.push_back(op);
    if (branches && module.regions(op).size() == branch_count) out.branches.push_back(op);
    if (IsRagged(module, op)) out.ragged.push_back(op);
  });
  return out;
}

}  // namespace

Status Apply(const Assumptions& assumptions, ir::Module& module, Diagnostics& diagnostics) {
  if (Status checked = Check(assumptions); !checked) return checked;
  if (assumptions.devices > 0) {
    const auto moved = transform::Retarget(module, assumptions.devices);
    if (!moved) return moved.error();
    if (moved->replicas > 1) {
      diagnostics.Warning(
          transform::kReplicated,
          fmt::format("{} devices share the parameters, in {} replicas", moved->sharded, moved->replicas),
          {.file = module.path()});
    }
  }
  if (Status told = ApplyKernelCosts(assumptions.kernel_costs, module, diagnostics); !told) return told;
  const size_t branch_count = assumptions.branch_probabilities.size();
  if (assumptions.trip_count < 0 && branch_count == 0 && assumptions.moe_imbalance <= 1) return {};
  const Concerned concerned = ConcernedBy(assumptions, module);
  const auto add = [&](const std::vector<ir::OpId>& ops, std::string_view name, const std::string& text,
                       std::string_view none) {
    for (const ir::OpId op : ops) AddAttribute(module, op, name, text);
    if (ops.empty()) diagnostics.Warning(kUnusedAssumption, std::string(none), {.file = module.path()});
  };
  if (assumptions.trip_count >= 0) {
    add(concerned.loops, ir::kAssumedTripCount, fmt::format("{} : i64", assumptions.trip_count),
        "--trip-count: the program has no loop whose iterations are unknown");
  }
  if (branch_count > 0) {
    add(concerned.branches, "hespas.branch_probabilities",
        fmt::format("[{}]", fmt::join(assumptions.branch_probabilities, ", ")),
        fmt::format("--branch-probabilities: the program has no conditional with {} branches", branch_count));
  }
  if (assumptions.moe_imbalance > 1) {
    add(concerned.ragged, "hespas.imbalance", fmt::format("{} : f64", assumptions.moe_imbalance),
        "--moe-imbalance: the program has no ragged matmul or all-to-all");
  }
  return {};
}

}  // namespace hespas::driver
