#include "driver/serving/priced_steps.h"

#include <algorithm>
#include <cmath>

namespace hespas::driver {
namespace {

using serve::StepCost;
using serve::StepShape;

void Add(const StepCost& more, double times, StepCost& cost) {
  cost.seconds += times * more.seconds;
  for (size_t i = 0; i < serve::kParts; ++i) cost.parts[i] += times * more.parts[i];
}

// Distance of tabulated rows: exact up to 16, then 16 an octave.
int64_t GridStep(double rows) {
  constexpr double kAnOctave = 16;
  int64_t step = 1;
  while (static_cast<double>(step) * 2 * kAnOctave <= rows) step *= 2;
  return step;
}

}  // namespace

std::optional<double> PricedSteps::Captured(const StepShape& step) const {
  if (step.prompt_tokens > 0 && !graphs_.mixed) return std::nullopt;
  const auto at = std::lower_bound(graphs_.sizes.begin(), graphs_.sizes.end(), step.rows());
  return at == graphs_.sizes.end() ? std::nullopt : std::optional(*at);
}

StepCost PricedSteps::Sum(const Kernels& kernels) const {
  StepCost sum;
  for (const serve::StepKernel& kernel : kernels) Add(prices_.CostOf(kernel), 1, sum);
  return sum;
}

StepCost PricedSteps::At(double rows, Table& table, Kernels (serve::StepKernels::*kernels)(double) const) const {
  const int64_t step = GridStep(rows);
  const int64_t low = static_cast<int64_t>(rows) / step * step;
  const auto at = [&](int64_t point) -> const StepCost& {
    const auto [entry, fresh] = table.try_emplace(point);
    if (fresh) entry->second = Sum((kernels_.*kernels)(static_cast<double>(point)));
    return entry->second;
  };
  const double above = (rows - static_cast<double>(low)) / static_cast<double>(step);
  StepCost cost;
  Add(at(low), 1 - above, cost);
  if (above > 0) Add(at(low + step), above, cost);
  return cost;
}

std::vector<serve::KernelTime> PricedSteps::KernelsOf(const StepShape& step) const {
  std::vector<serve::KernelTime> out;
  const auto add = [&](std::string_view name, double count, const StepCost& cost) {
    out.push_back({.name = std::string(name), .count = count, .seconds = cost.seconds});
  };
  Kernels kernels = kernels_.Layers(Captured(step).value_or(step.rows()));
  for (const serve::StepKernel& kernel : kernels_.Head(step.decode_rows + step.prompt_ends)) kernels.push_back(kernel);
  for (const serve::StepKernel& kernel : kernels) add(kernel.name, kernel.count, prices_.CostOf(kernel));
  for (const serve::AttentionCall& call : kernels_.Attention(step))
    add(call.decode ? "attention of decodes" : "attention of prompts", call.count, prices_.CostOf(call));
  std::stable_sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.seconds > b.seconds; });
  return out;
}

// Between tabulated rows a step's time is linear, so it and its share of a row are least at tabulated ones; captured
// sizes are no smaller than the rows that they stand for.
serve::StepFloors PricedSteps::Floors(double rows) const {
  constexpr double kRounding = 1 - 1e-9;
  serve::StepFloors least{.step_s = INFINITY, .row_s = INFINITY};
  const double most = Captured({.decode_rows = rows}).value_or(rows);
  for (double point = 1, last = 0; last < most; last = point, point += static_cast<double>(GridStep(point))) {
    const double seconds = At(point, layers_, &serve::StepKernels::Layers).seconds * kRounding;
    least = {.step_s = std::min(least.step_s, seconds), .row_s = std::min(least.row_s, seconds / point)};
  }
  return least;
}

StepCost PricedSteps::CostOf(const StepShape& step) const {
  const std::optional<double> captured = Captured(step);
  StepCost cost = At(captured.value_or(step.rows()), layers_, &serve::StepKernels::Layers);
  const double sampled = step.decode_rows + step.prompt_ends;
  if (sampled > 0) Add(At(sampled, head_, &serve::StepKernels::Head), 1, cost);
  for (const serve::AttentionCall& call : kernels_.Attention(step)) Add(prices_.CostOf(call), 1, cost);
  if (step.moved_tokens > 0) {
    const double seconds = prices_.HostSeconds(step.moved_tokens * kernels_.CacheBytesPerToken());
    cost.seconds += seconds;
    cost.parts[static_cast<size_t>(serve::Part::kOther)] += seconds;
  }
  const double host = captured ? 0 : graphs_.layer_s * layers_of_host_;
  if (host > cost.seconds) {
    cost.parts[static_cast<size_t>(serve::Part::kLaunch)] += host - cost.seconds;
    cost.seconds = host;
  }
  return cost;
}

}  // namespace hespas::driver
