#include "driver/serving/priced_steps.h"

#include <algorithm>
#include <cmath>

namespace hespas::driver {
namespace {

using serve::StepCost;

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

double PricedSteps::Padded(double rows) const {
  if (rows > graphs_.largest) return rows;
  if (rows <= 4) return std::exp2(std::ceil(std::log2(std::max(rows, 1.0))));
  return std::ceil(rows / graphs_.step) * graphs_.step;
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

StepCost PricedSteps::CostOf(const serve::StepShape& step) const {
  StepCost cost = At(Padded(step.rows()), layers_, &serve::StepKernels::Layers);
  const double sampled = step.decode_rows + step.prompt_ends;
  if (sampled > 0) Add(At(sampled, head_, &serve::StepKernels::Head), 1, cost);
  for (const serve::AttentionCall& call : kernels_.Attention(step)) Add(prices_.CostOf(call), 1, cost);
  if (step.moved_tokens > 0) {
    const double seconds = prices_.HostSeconds(step.moved_tokens * kernels_.CacheBytesPerToken());
    cost.seconds += seconds;
    cost.parts[static_cast<size_t>(serve::Part::kOther)] += seconds;
  }
  return cost;
}

}  // namespace hespas::driver
