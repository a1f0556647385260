// Pipelines as one program for each stage: with free transfers the bubble is the textbook's, to the picosecond.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "../read_program.h"
#include "driver/parts.h"

namespace hespas {
namespace {

constexpr int kStages = 4;
constexpr int kMicrobatches = 8;

// One piece of work of a stage: needs a message or an argument, hands on a message or a result.
struct Task {
  int from = 0;    // channel; 0: an argument
  int to = 0;      // channel; 0: a result
  int after = -1;  // the task of this stage whose product it needs instead
};

int Forward(int stage, int microbatch) { return 1 + stage * 1000 + microbatch; }  // into the stage
int Backward(int stage, int microbatch) { return 500 + stage * 1000 + microbatch; }

// Every task is a product of equal shape, so that all take equally long; none shares an operand with another, or the
// optimiser would compute both in one kernel, as XLA does.
std::string StageProgram(const std::vector<Task>& tasks) {
  const std::string type = "tensor<1024x1024xf32>";
  std::string arguments;
  std::string body = "%t = stablehlo.create_token : !stablehlo.token\n";
  std::string results;
  std::string types;
  for (size_t i = 0; i < tasks.size(); ++i) {
    std::string input = fmt::format("%x{}", i);
    if (tasks[i].after >= 0) {
      input = fmt::format("%c{}", tasks[i].after);
    } else if (tasks[i].from == 0) {
      arguments += fmt::format(", {}: {}", input, type);
    } else {
      input = fmt::format("%r{}#0", i);
      body += fmt::format(
          "%r{}:2 = \"stablehlo.recv\"(%t) {{channel_handle = #stablehlo.channel_handle<handle = {}, type = 1>, "
          "is_host_transfer = false}} : (!stablehlo.token) -> ({}, !stablehlo.token)\n",
          i, tasks[i].from, type);
    }
    body += fmt::format("%c{0} = stablehlo.dot_general {1}, {1}, contracting_dims = [1] x [0] : ({2}, {2}) -> {2}\n", i,
                        input, type);
    if (tasks[i].to == 0) {
      results += fmt::format("{}%c{}", results.empty() ? "" : ", ", i);
      types += fmt::format("{}{}", types.empty() ? "" : ", ", type);
    } else {
      body += fmt::format(
          "%s{} = \"stablehlo.send\"(%c{}, %t) {{channel_handle = #stablehlo.channel_handle<handle = {}, type = 1>, "
          "is_host_transfer = false}} : ({}, !stablehlo.token) -> !stablehlo.token\n",
          i, i, tasks[i].to, type);
    }
  }
  return fmt::format("func.func @main(%w: {}{}) -> ({}) {{\n{}return {}{}\n}}\n", type, arguments, types, body, results,
                     results.empty() ? "" : " : " + types);
}

Task ForwardTask(int stage, int i) {
  return {.from = stage == 0 ? 0 : Forward(stage, i), .to = stage + 1 == kStages ? 0 : Forward(stage + 1, i)};
}
Task BackwardTask(int stage, int i) {
  return {.from = stage + 1 == kStages ? 0 : Backward(stage, i), .to = stage == 0 ? 0 : Backward(stage - 1, i)};
}

result::RunResult RunStages(const std::vector<std::vector<Task>>& stages,
                            const std::vector<std::string>& devices = {}) {
  const auto folder = std::filesystem::temp_directory_path() / fmt::format("hespas_pipeline_{}", getpid());
  std::filesystem::create_directories(folder);
  driver::RunOptions options{
      .device = "A100_SXM_40GB", .system = HESPAS_SOURCE_DIR "/tests/whole/free_transfers.json", .devices = devices};
  for (size_t s = 0; s < stages.size(); ++s) {
    const std::string path = folder / fmt::format("stage{}.mlir", s);
    std::ofstream(path) << StageProgram(stages[s]);
    if (s == 0) {
      options.program = path;
    } else {
      options.more_programs.push_back(path);
    }
  }
  Diagnostics diagnostics;
  const auto result = driver::Run(options, diagnostics);
  for (const Diagnostic& d : diagnostics.all()) {
    if (!d.is_warning()) ADD_FAILURE() << Render(d);
  }
  std::filesystem::remove_all(folder);
  return result.value_or(result::RunResult());
}

// bubble = 1 - compute / step = (p - 1) / (work + p - 1), in whole picoseconds.
void ExpectBubble(const result::RunResult& result, int work) {
  ASSERT_GT(result.compute_time.value, 0);
  EXPECT_EQ(result.compute_time.value * (work + kStages - 1), result.step_time.value * work);
  EXPECT_EQ(result.step_time - result.compute_time, result.idle + result.exposed_communication);
}

TEST(Pipeline, GPipeForward) {
  std::vector<std::vector<Task>> stages(kStages);
  for (int s = 0; s < kStages; ++s) {
    for (int i = 0; i < kMicrobatches; ++i) stages[s].push_back(ForwardTask(s, i));
  }
  ExpectBubble(RunStages(stages), kMicrobatches);
}

TEST(Pipeline, GPipeForwardAndBackward) {
  std::vector<std::vector<Task>> stages(kStages);
  for (int s = 0; s < kStages; ++s) {
    for (int i = 0; i < kMicrobatches; ++i) stages[s].push_back(ForwardTask(s, i));
    for (int i = kMicrobatches; i-- > 0;) {
      stages[s].push_back(BackwardTask(s, i));
      if (s + 1 == kStages) stages[s].back().after = i;  // the loss
    }
  }
  const auto result = RunStages(stages);
  // Both passes have the bubble, so their sum has.
  EXPECT_EQ(result.compute_time.value * (kMicrobatches + kStages - 1), result.step_time.value * kMicrobatches);
}

TEST(Pipeline, InterleavedChunks) {
  // Stage s holds chunks s, s + p, ...; microbatches pass in groups of p (Narayanan et al. 2021, section 2.2).
  constexpr int kChunks = 2;
  std::vector<std::vector<Task>> stages(kStages);
  const auto channel = [](int part, int i) { return 1 + part * 100 + i; };
  for (int s = 0; s < kStages; ++s) {
    for (int group = 0; group < kMicrobatches; group += kStages) {
      for (int chunk = 0; chunk < kChunks; ++chunk) {
        for (int i = group; i < group + kStages; ++i) {
          const int part = chunk * kStages + s;
          stages[s].push_back({.from = part == 0 ? 0 : channel(part, i),
                               .to = part + 1 == kChunks * kStages ? 0 : channel(part + 1, i)});
        }
      }
    }
  }
  ExpectBubble(RunStages(stages), kChunks * kMicrobatches);
}

TEST(Pipeline, ASlowerDeviceHoldsTheOthersUp) {
  std::vector<std::vector<Task>> stages(kStages);
  for (int s = 0; s < kStages; ++s) {
    for (int i = 0; i < kMicrobatches; ++i) stages[s].push_back(ForwardTask(s, i));
  }
  const auto equal = RunStages(stages, {"H100_80GB", "H100_80GB", "H100_80GB", "H100_80GB"});
  const auto mixed = RunStages(stages, {"H100_80GB", "A100_SXM_40GB", "H100_80GB", "H100_80GB"});
  const auto slow = RunStages(stages);
  const int64_t fast_task = equal.compute_time.value / kMicrobatches;
  const int64_t slow_task = slow.compute_time.value / kMicrobatches;
  ASSERT_GT(slow_task, fast_task);
  // Filling takes each stage once, then the slowest stage sets the pace.
  EXPECT_EQ(mixed.step_time.value, 3 * fast_task + kMicrobatches * slow_task);
}

TEST(Pipeline, AChannelWithoutPartnerIsAnError) {
  const auto folder = std::filesystem::temp_directory_path() / fmt::format("hespas_lonely_{}", getpid());
  std::filesystem::create_directories(folder);
  const std::string first = folder / "a.mlir";
  const std::string second = folder / "b.mlir";
  std::ofstream(first) << StageProgram({{.from = 0, .to = 7}});
  std::ofstream(second) << StageProgram({{.from = 8, .to = 0}});
  Diagnostics diagnostics;
  driver::RunOptions options{.program = first, .device = "A100_SXM_40GB"};
  options.more_programs = {second};
  EXPECT_FALSE(driver::Run(options, diagnostics).has_value());
  ASSERT_TRUE(diagnostics.has_errors());
  EXPECT_EQ(diagnostics.all().back().kind, &driver::kNoPartner);
  std::filesystem::remove_all(folder);
}

TEST(Pipeline, PlacementsAreRanges) {
  EXPECT_THAT(*driver::ParseRanks("2-4"), testing::ElementsAre(2, 3, 4));
  EXPECT_THAT(*driver::ParseRanks("7"), testing::ElementsAre(7));
  for (const char* bad : {"", "-", "3-1", "a", "1-", "99999999"}) EXPECT_FALSE(driver::ParseRanks(bad).ok()) << bad;
}

}  // namespace
}  // namespace hespas
