#include "driver/what_if/quick.h"

#include <algorithm>
#include <cmath>

#include "driver/stages/cost/flash_attention.h"

namespace hespas::driver {
namespace {

constexpr double kTwice = 2;
constexpr double kSoftness = 6;  // of arithmetic and traffic that overlap, as the calibrated model's (model.cc)

struct Terms {
  double compute = 0;
  double limited = 0;  // of it
  double memory = 0;
  double launch = 0;
};

Terms TermsOf(const graph::Estimate& estimate) {
  Terms terms{.limited = estimate.limited.seconds()};
  for (const graph::Term& term : estimate.terms) {
    if (term.name == graph::kComputeTerm) terms.compute = term.time.seconds();
    if (term.name == graph::kMemoryTerm) terms.memory = term.time.seconds();
    if (term.name == graph::kLaunchTerm) terms.launch = term.time.seconds();
  }
  return terms;
}

double Together(double a, double b) {
  const double largest = std::max(a, b);
  if (!(largest > 0)) return 0;
  return largest * std::pow(std::pow(a / largest, kSoftness) + std::pow(b / largest, kSoftness), 1 / kSoftness);
}

// What the change takes off one estimate; s.
double Saved(Change change, const graph::Estimate& estimate) {
  const Terms terms = TermsOf(estimate);
  const double most = estimate.time.seconds();
  if (change == Change::kLaunch) return std::min(most, terms.launch);
  // What the board's power limits gains little from a higher peak.
  const double from_peak = std::max(0.0, terms.compute - terms.limited) / kTwice;
  const double compute = change == Change::kPeak ? terms.compute - from_peak : terms.compute;
  const double memory = change == Change::kMemory ? terms.memory / kTwice : terms.memory;
  const double before = Together(terms.compute, terms.memory);
  if (!(before > 0)) return 0;
  // Parts of a block that stand for themselves are in its time, but in neither term.
  const double rest = std::max(0.0, most - terms.launch);
  return rest * (1 - Together(compute, memory) / before);
}

double TimeOf(const Prepared& prepared, const graph::EstimateTable& table) {
  const std::vector<int64_t> uses = graph::Uses(prepared.blocks, table);
  double seconds = 0;
  for (size_t i = 0; i < uses.size(); ++i) seconds += static_cast<double>(uses[i]) * table.unique[i].time.seconds();
  return seconds;
}

class Quick {
 public:
  Quick(const RunOptions& options, const Prepared& prepared, const Estimated& estimated,
        const result::RunResult& result)
      : options_(options), prepared_(prepared), estimated_(estimated), result_(result) {}

  // Negative where nothing recorded tells.
  double Step(Change change) const {
    const double compute = result_.compute_time.seconds();
    const double communication = result_.communication_time.seconds();
    switch (change) {
      case Change::kPeak:
      case Change::kMemory:
      case Change::kLaunch:
      case Change::kFlashAttention:
        return WithCompute(compute * Ratio(change));
      case Change::kLinks:
        return result_.step_time.seconds() - result_.exposed_communication.seconds() / kTwice;
      case Change::kOverlap:
        return std::max(compute, communication);
      case Change::kLatency:
        return -1;
    }
    return -1;
  }

 private:
  // Of all computation, after to before.
  double Ratio(Change change) const {
    const double before = TimeOf(prepared_, estimated_.table);
    if (!(before > 0)) return 1;
    if (change == Change::kFlashAttention) {
      if (options_.estimate.flash_attention) return 1;
      Estimated flash{.table = estimated_.table, .ops = {}, .op_times = {}};
      ApplyFlashAttention(prepared_, prepared_.device, flash);
      return TimeOf(prepared_, flash.table) / before;
    }
    const std::vector<int64_t> uses = graph::Uses(prepared_.blocks, estimated_.table);
    double saved = 0;
    for (size_t i = 0; i < uses.size(); ++i)
      saved += static_cast<double>(uses[i]) * Saved(change, estimated_.table.unique[i]);
    return std::max(0.0, 1 - saved / before);
  }

  double WithCompute(double compute) const {
    const double before = result_.compute_time.seconds();
    const double hidden = before > 0 ? result_.overlap.seconds() * compute / before : 0;
    return compute + result_.communication_time.seconds() - hidden + result_.idle.seconds();
  }

  const RunOptions& options_;
  const Prepared& prepared_;
  const Estimated& estimated_;
  const result::RunResult& result_;
};

}  // namespace

std::vector<result::WhatIf> QuickWhatIfs(const RunOptions& options, const Prepared& prepared,
                                         const Estimated& estimated, const result::RunResult& result) {
  const Quick quick(options, prepared, estimated, result);
  std::vector<result::WhatIf> rows;
  for (const Question& question : Questions(!result.network_model.empty())) {
    const double step = quick.Step(question.change);
    if (step < 0 || step >= result.step_time.seconds()) continue;
    rows.push_back({std::string(question.name), std::string(question.options), Time::Seconds(step), true});
  }
  return rows;
}

}  // namespace hespas::driver
