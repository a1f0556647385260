// Links: read report
// A profiler's trace, the account of its step and the comparison with a prediction; the same bytes as a result's
// blocks.
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "base/text/json_text.h"
#include "read/profile/profile.h"
#include "report/compare/comparison.h"
#include "report/step/block_times.h"

namespace {

using namespace hespas;

result::RunResult Predicted() {
  result::RunResult predicted;
  predicted.step_time = Time(9);
  predicted.block_times = result::BlockTimes{
      .structures = {{.hash = "1", .op = "dot", .kind = "matmul", .shapes = "", .bound = "compute"},
                     {.hash = "2", .op = "add", .kind = "elementwise", .shapes = "", .bound = "memory"}},
      .names = {"dot.1", "jit(f)/add"},
      .blocks = {{.structure = 0, .name = 0, .time = Time(5)}, {.structure = 1, .name = 1, .time = Time(3)}},
      .idle = Time(1)};
  return predicted;
}

void Compare(const trace::MeasuredStep& step) {
  const report::Comparison comparison = report::CompareMeasured(Predicted(), step);
  Time sum[2];
  for (const report::ComparedRow& row : comparison.rows) {
    for (size_t side = 0; side < 2; ++side) sum[side] += row.time[side];
  }
  if (sum[0] != Time(9) || sum[1] != step.length) std::abort();
  report::ToText(comparison);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  if (const auto step = read::ReadProfile(text, "x.json")) Compare(*step);
  const auto json = ParseJson(text, "x.json");
  if (!json) return 0;
  if (const auto times = report::BlockTimesOf(*json, "x.json")) report::ToJson(*times);
  return 0;
}
