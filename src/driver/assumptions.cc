#include "driver/assumptions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <numeric>
#include <string>

#include "ir/trip_count.h"
#include "ir/walk.h"
#include "optimise/retarget.h"

namespace hespas::driver {
namespace {

void AddAttribute(ir::Module& module, ir::OpId op, std::string_view name, std::string text) {
  const auto old = module.attributes(op);
  std::vector<ir::Attribute> attributes(old.begin(), old.end());
  attributes.push_back({module.InternName(name), module.Keep(std::move(text))});
  module.SetAttributes(op, attributes);
}

Status Check(const Assumptions& assumptions) {
  const auto& probabilities = assumptions.branch_probabilities;
  double sum = 0;
  for (const double p : probabilities) {
    if (!(p >= 0 && p <= 1)) return MakeError(kBadAssumption, fmt::format("{} is no probability", p));
    sum += p;
  }
  constexpr double kRounding = 1e-6;
  if (!probabilities.empty() && std::abs(sum - 1) > kRounding) {
    return MakeError(kBadAssumption, fmt::format("the branch probabilities add up to {}", sum));
  }
  if (!(assumptions.moe_imbalance >= 1 && assumptions.moe_imbalance < 1e6)) {
    return MakeError(kBadAssumption, fmt::format("an imbalance of {} makes no sense", assumptions.moe_imbalance));
  }
  return {};
}

bool IsRagged(const ir::Module& module, ir::OpId op) {
  const ir::OpKind kind = module.kind(op);
  if (kind == ir::OpKind::kRaggedAllToAll || kind == ir::OpKind::kRaggedDot) return true;
  const std::string_view* target = module.attribute(op, "call_target_name");
  return target != nullptr && target->find("ragged_all_to_all") != std::string_view::npos;
}

}  // namespace

Status Apply(const Assumptions& assumptions, ir::Module& module) {
  if (Status checked = Check(assumptions); !checked) return checked;
  if (assumptions.devices > 0) {
    if (Status moved = optimise::Retarget(module, assumptions.devices); !moved) return moved;
  }
  const size_t branches = assumptions.branch_probabilities.size();
  if (assumptions.trip_count < 0 && branches == 0 && assumptions.moe_imbalance <= 1) return {};
  std::vector<ir::OpId> all;
  ir::WalkNested(module, module.root(), [&](ir::OpId op) { all.push_back(op); });
  for (const ir::OpId op : all) {
    const ir::OpKind kind = module.kind(op);
    if (kind == ir::OpKind::kWhile && assumptions.trip_count >= 0 && !ir::TripCount(module, op)) {
      AddAttribute(module, op, "known_trip_count", fmt::format("{} : i64", assumptions.trip_count));
    } else if ((kind == ir::OpKind::kCase || kind == ir::OpKind::kIf) && branches > 0 &&
               module.regions(op).size() == branches) {
      AddAttribute(module, op, "hespas.branch_probabilities",
                   fmt::format("[{}]", fmt::join(assumptions.branch_probabilities, ", ")));
    } else if (assumptions.moe_imbalance > 1 && IsRagged(module, op)) {
      AddAttribute(module, op, "hespas.imbalance", fmt::format("{} : f64", assumptions.moe_imbalance));
    }
  }
  return {};
}

}  // namespace hespas::driver
