// How long the timeline files of 100,000 slices take to write.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <memory>
#include <string>

#include "driver/pipeline/output.h"

namespace hespas {
namespace {

constexpr size_t kOps = 2000;
constexpr size_t kSlices = 100'000;

// Different sizes in turn, so that names, bytes and bounds vary.
std::string Program() {
  std::string text = "func.func @main(%x0: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {\n";
  constexpr const char* kNames[] = {"tanh", "sine", "exponential", "negate"};
  for (size_t i = 0; i < kOps; ++i) {
    text += fmt::format("  %x{} = stablehlo.{} %x{} : tensor<1024x1024xf32> loc(\"jit(f)/layers_{}/op\")\n", i + 1,
                        kNames[i % 4], i, i / 20);
  }
  return text + fmt::format("  return %x{} : tensor<1024x1024xf32>\n}}\n", kOps);
}

// A simulated step whose intervals are repeated until there are as many as asked for.
std::optional<driver::Finished> LongStep() {
  Diagnostics diagnostics;
  driver::RunOptions options{
      .program = {.path = "chain.mlir", .content = std::make_shared<const std::string>(Program())},
      .device = {.name = "A100_SXM_40GB"},
      .system = {.name = "A100_SXM_40GB_4GPU"},
      .optimise = {.mode = driver::OptimiseMode::kNone},
      .output = {.explain = true}};
  auto run = driver::RunStages(options, diagnostics);
  if (!run || !run->simulated) return std::nullopt;
  auto& intervals = run->simulated->intervals;
  const size_t once = intervals.size();
  const uint64_t length = run->simulated->finish();
  for (size_t i = 0; once > 0 && intervals.size() < kSlices; ++i) {
    result::NodeInterval interval = intervals[i % once];
    const uint64_t shift = (i / once + 1) * length;
    interval.start += shift;
    interval.end += shift;
    intervals.push_back(interval);
  }
  return run;
}

template <std::string (*Write)(const report::StepView&, const report::TimelineCounters&)>
void WriteTimeline(benchmark::State& state) {
  const auto run = LongStep();
  if (!run) return state.SkipWithError("the program could not be simulated");
  size_t bytes = 0;
  for (auto _ : state) bytes = Write(run->View(), driver::CountersOf(*run)).size();
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(kSlices));
  state.counters["MB"] = static_cast<double>(bytes) / 1e6;
}

BENCHMARK(WriteTimeline<report::PerfettoTrace>)->Unit(benchmark::kMillisecond);
BENCHMARK(WriteTimeline<report::ChromeTrace>)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace hespas
