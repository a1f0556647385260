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
  const double ranks = kernels_.RanksApart();  // each replays a graph of its own rows
  const auto at = std::lower_bound(graphs_.sizes.begin(), graphs_.sizes.end(), std::ceil(step.rows() / ranks));
  return at == graphs_.sizes.end() ? std::nullopt : std::optional(*at * ranks);
}

StepCost PricedSteps::Sum(const Kernels& kernels) const {
  StepCost sum;
  for (const serve::StepKernel& kernel : kernels) Add(prices_.CostOf(kernel), 1, sum);
  return sum;
}

StepCost PricedSteps::At(double rows, Table& table, Kernels (serve::StepKernels::*kernels)(double) const) const {
  Table::Recent& recent = table.recent[static_cast<size_t>(rows) % table.recent.size()];
  if (recent.rows != rows) recent = {.rows = rows, .cost = Between(rows, table, kernels)};
  return recent.cost;
}

StepCost PricedSteps::Between(double rows, Table& table, Kernels (serve::StepKernels::*kernels)(double) const) const {
  const int64_t step = GridStep(rows);
  const int64_t low = static_cast<int64_t>(rows) / step * step;
  const auto at = [&](int64_t point) -> const StepCost& {
    const auto [entry, fresh] = table.points.try_emplace(point);
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

Rising PricedSteps::LeastOf(double most, Table& table, Kernels (serve::StepKernels::*kernels)(double) const) const {
  constexpr double kRounding = 1 - 1e-9;
  Rising least;
  least.Add(0, 0);
  for (double point = 1, last = 0; last < most; last = point, point += static_cast<double>(GridStep(point)))
    least.Add(point, Between(point, table, kernels).seconds * kRounding);
  return least;
}

// Between tabulated rows times are linear, so what a row or another takes is least at tabulated ones. Captured sizes
// are no smaller than the rows that they stand for; attention takes longer the longer contexts are.
serve::StepFloors PricedSteps::Floors(const serve::StepRange& range) const {
  if (floored_ == range) return floors_;
  const Rising layers =
      LeastOf(Captured({.decode_rows = range.rows}).value_or(range.rows), layers_, &serve::StepKernels::Layers);
  const Rising head = LeastOf(range.sampled_rows, head_, &serve::StepKernels::Head);
  const double decodes = static_cast<double>(range.requests) * range.rows_each;
  serve::StepFloors floors{.row_s = layers.LeastShare(), .prompt_row_s = layers.LeastSlope(decodes, range.prompt_rows)};
  for (int64_t i = 1; i <= range.requests; ++i) {
    const auto n = static_cast<double>(i);
    double seconds = layers.At(n * range.rows_each) + head.At(n * range.rows_each);
    const StepShape step{.decode_requests = n, .decode_rows = n * range.rows_each, .decode_context = n * range.context};
    for (const serve::AttentionCall& call : kernels_.Attention(step)) seconds += prices_.CostOf(call).seconds;
    floors.decode_s.push_back(seconds);
  }
  for (size_t i = floors.decode_s.size(); i-- > 1;)
    floors.decode_s[i - 1] = std::min(floors.decode_s[i - 1], floors.decode_s[i]);
  floored_ = range;
  floors_ = floors;
  return floors;
}

size_t PricedSteps::AttentionTable::PlaceOf(const Key& key) const {
  constexpr uint64_t kSpread = 0x9E3779B97F4A7C15;  // 2^64 by the golden ratio: neighbours lie far apart
  uint64_t place = 0;
  for (const double each : key) place = (place ^ static_cast<uint64_t>(each)) * kSpread;
  return place >> (64 - kBits);
}

StepCost PricedSteps::AttentionOf(const StepShape& part, const AttentionTable::Key& key, AttentionTable& table) const {
  if (table.recent.empty()) table.recent.resize(size_t{1} << AttentionTable::kBits);
  AttentionTable::Recent& recent = table.recent[table.PlaceOf(key)];
  if (recent.key != key) {
    recent = {.key = key, .cost = {}};
    for (const serve::AttentionCall& call : kernels_.Attention(part)) Add(prices_.CostOf(call), 1, recent.cost);
  }
  return recent.cost;
}

void PricedSteps::AddAttention(const StepShape& step, StepCost& cost) const {
  if (step.decode_requests > 0) {
    const StepShape decodes{.decode_requests = step.decode_requests,
                            .decode_rows = step.decode_rows,
                            .decode_context = step.decode_context};
    const AttentionTable::Key key = {step.decode_context, step.decode_requests, step.decode_rows, 0};
    Add(AttentionOf(decodes, key, decodes_), 1, cost);
  }
  if (step.prompt_tokens > 0) {
    const StepShape prompts{.prompt_tokens = step.prompt_tokens,
                            .prompt_requests = step.prompt_requests,
                            .prompt_context = step.prompt_context,
                            .prompt_pairs = step.prompt_pairs};
    const AttentionTable::Key key = {step.prompt_pairs, step.prompt_tokens, step.prompt_requests, step.prompt_context};
    Add(AttentionOf(prompts, key, prompts_), 1, cost);
  }
}

StepCost PricedSteps::CostOf(const StepShape& step) const {
  const std::optional<double> captured = Captured(step);
  StepCost cost = At(captured.value_or(step.rows()), layers_, &serve::StepKernels::Layers);
  const double sampled = step.decode_rows + step.prompt_ends;
  if (sampled > 0) Add(At(sampled, head_, &serve::StepKernels::Head), 1, cost);
  AddAttention(step, cost);
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
