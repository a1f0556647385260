// Pipelines as one program for each stage: with free transfers the bubble is the textbook's, to the picosecond.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "../read_program.h"
#include "driver/pipeline/parts.h"
#include "driver/pipeline/run.h"

namespace hespas {
namespace {

constexpr int kStages = 4;
constexpr int kMicrobatches = 8;

// One piece of work of a stage: needs a message or an argument, hands on a message or a result.
struct Task {
  int from = 0;    // channel; 0: an argument
  int to = 0;      // channel; 0: a result
  int after = -1;  // the task of this stage whose matmul it needs instead
};

int Forward(int stage, int microbatch) { return 1 + stage * 1000 + microbatch; }  // into the stage
int Backward(int stage, int microbatch) { return 500 + stage * 1000 + microbatch; }

// Every task is a matmul of equal shape, so that all take equally long; none shares an operand with another, or the
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
  driver::RunOptions options{.device = {.name = "A100_SXM_40GB"},
                             .system = {.name = HESPAS_SOURCE_DIR "/tests/whole/free_transfers.json"},
                             .network = {.model = driver::NetworkModel::kPlain},
                             .parts = {.devices = devices}};
  for (size_t s = 0; s < stages.size(); ++s) {
    const std::string path = folder / fmt::format("stage{}.mlir", s);
    std::ofstream(path) << StageProgram(stages[s]);
    if (s == 0) {
      options.program.path = path;
    } else {
      options.parts.programs.push_back(path);
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

// With `refused` the run has to end with that error.
std::optional<result::RunResult> RunFiles(const std::vector<std::string>& texts, driver::RunOptions options,
                                          const DiagnosticKind* refused = nullptr) {
  const auto folder = std::filesystem::temp_directory_path() / fmt::format("hespas_files_{}", getpid());
  std::filesystem::create_directories(folder);
  for (size_t i = 0; i < texts.size(); ++i) {
    const std::string path = folder / fmt::format("{}.mlir", i);
    std::ofstream(path) << texts[i];
    if (i == 0) {
      options.program.path = path;
    } else {
      options.parts.programs.push_back(path);
    }
  }
  Diagnostics diagnostics;
  auto result = driver::Run(options, diagnostics);
  for (const Diagnostic& d : diagnostics.all()) {
    if (!d.is_warning() && d.kind != refused) ADD_FAILURE() << Render(d);
  }
  EXPECT_EQ(result.has_value(), refused == nullptr);
  std::filesystem::remove_all(folder);
  return result;
}

// GPipe's forward pass as one program of all stages in lockstep: what a stage computes goes to its neighbour each tick,
// and the ramps compute on what is there.
std::string Lockstep(int ticks) {
  const std::string type = "tensor<1024x1024xf32>";
  std::string body;
  std::string value = "%x";
  for (int tick = 0; tick < ticks; ++tick) {
    body += fmt::format("%c{0} = stablehlo.dot_general {1}, {1}, contracting_dims = [1] x [0] : ({2}, {2}) -> {2}\n",
                        tick, value, type);
    value = fmt::format("%c{}", tick);
    if (tick + 1 == ticks) break;
    body += fmt::format(
        "%r{0} = \"stablehlo.collective_permute\"({1}) <{{source_target_pairs = dense<[[0,1],[1,2],[2,3]]> : "
        "tensor<3x2xi64>, "
        "channel_handle = #stablehlo.channel_handle<handle = {2}, type = 1>}}> : ({3}) -> {3}\n",
        tick, value, tick + 1, type);
    value = fmt::format("%r{}", tick);
  }
  return fmt::format(
      "module @m attributes {{mhlo.num_partitions = {0} : i32}} {{ func.func @main(%x: {1}) -> {1} {{\n{2}return {3} : "
      "{1}\n}} }}\n",
      kStages, type, body, value);
}

TEST(Pipeline, OneProgramForEachStageTakesAsLongAsOneForAll) {
  const driver::RunOptions options{.device = {.name = "A100_SXM_40GB"},
                                   .system = {.name = HESPAS_SOURCE_DIR "/tests/whole/free_transfers.json"},
                                   .network = {.model = driver::NetworkModel::kPlain}};
  const auto single = RunFiles({Lockstep(kMicrobatches + kStages - 1)}, options);
  std::vector<std::vector<Task>> stages(kStages);
  for (int s = 0; s < kStages; ++s) {
    for (int i = 0; i < kMicrobatches; ++i) stages[s].push_back(ForwardTask(s, i));
  }
  ASSERT_TRUE(single.has_value());
  EXPECT_GT(single->step_time.value, 0);
  EXPECT_EQ(single->step_time, RunStages(stages).step_time);
}

// A matmul and an exchange with the partner of the same half.
std::string Halves(int devices, const std::string& groups) {
  return fmt::format(R"(module @m attributes {{mhlo.num_partitions = {} : i32}} {{
    func.func @main(%x: tensor<1024x1024xf32>) -> tensor<1024x1024xf32> {{
      %c = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0] : (tensor<1024x1024xf32>, tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
      %r = "stablehlo.all_reduce"(%c) ({{
        ^bb0(%p: tensor<f32>, %q: tensor<f32>):
          %s = stablehlo.add %p, %q : tensor<f32>
          stablehlo.return %s : tensor<f32>
        }}) {{replica_groups = dense<{}xi64>, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, use_global_device_ids}} : (tensor<1024x1024xf32>) -> tensor<1024x1024xf32>
      return %r : tensor<1024x1024xf32>
    }}
  }})",
                     devices, groups);
}

TEST(Pipeline, TwoProgramsOnTwoDevicesEachAreOneProgramInTwoGroups) {
  driver::RunOptions options{.device = {.name = "A100_SXM_40GB"}, .system = {.name = "A100_SXM_40GB_4GPU"}};
  options.parts.placement = {"0-1", "2-3"};
  const std::string half = Halves(2, "[[0,1]]> : tensor<1x2");
  for (const auto model : {driver::NetworkModel::kPlain, driver::NetworkModel::kAuto}) {
    options.network.model = model;
    driver::RunOptions all = options;
    all.parts.placement.clear();
    const auto one = RunFiles({Halves(4, "[[0,1],[2,3]]> : tensor<2x2")}, all);
    const auto two = RunFiles({half, half}, options);
    ASSERT_TRUE(one.has_value() && two.has_value());
    EXPECT_GT(one->communication_time.value, 0);
    EXPECT_EQ(one->step_time, two->step_time) << driver::TextOf(model);
    EXPECT_EQ(one->communication_time, two->communication_time) << driver::TextOf(model);
  }
}

TEST(Pipeline, EachProgramHasItsOwnPlacementAndDevice) {
  const std::string program = Halves(4, "[[0,1],[2,3]]> : tensor<2x2");
  const driver::RunOptions plain{.device = {.name = "H100_80GB"}, .system = {.name = "A100_SXM_40GB_4GPU"}};
  driver::RunOptions options = plain;
  options.parts.placement = {"0-1", "2-3"};
  RunFiles({program}, options, &driver::kBadPlacement);
  options.parts.placement = {"1-4"};
  RunFiles({program}, options, &driver::kBadPlacement);
  options.parts.placement = {"0-3"};
  EXPECT_EQ(RunFiles({program}, options)->step_time, RunFiles({program}, plain)->step_time);
  options.parts.devices = {"H100_80GB", "A100_SXM_40GB"};
  RunFiles({program}, options, &driver::kBadPlacement);
}

TEST(Pipeline, ASlowerRankHoldsTheOthersUpAtTheirNextExchange) {
  const std::string program = Halves(4, "[[0,1],[2,3]]> : tensor<2x2");
  driver::RunOptions options{.device = {.name = "H100_80GB"},
                             .system = {.name = "A100_SXM_40GB_4GPU"},
                             .network = {.model = driver::NetworkModel::kPlain}};
  const auto fast = RunFiles({program}, options);
  options.parts.rank_devices = {"3=A100_SXM_40GB"};
  const auto mixed = RunFiles({program}, options);
  options.parts.rank_devices = {"0-3=A100_SXM_40GB"};
  const auto slow = RunFiles({program}, options);
  ASSERT_TRUE(fast.has_value() && mixed.has_value() && slow.has_value());
  EXPECT_GT(slow->compute_time, fast->compute_time);
  // Ranks 2 and 3 wait for 3's matmul; the answer is the slowest rank's.
  EXPECT_EQ(mixed->step_time, slow->step_time);
  EXPECT_EQ(slow->step_time - fast->step_time, slow->compute_time - fast->compute_time);
}

// Narayanan et al. 2021, section 2.2: each stage runs ahead by what lies behind it, then alternates.
TEST(Pipeline, OneForwardOneBackward) {
  std::vector<std::vector<Task>> stages(kStages);
  for (int s = 0; s < kStages; ++s) {
    const int ahead = kStages - 1 - s;
    for (int i = 0; i < kMicrobatches + ahead; ++i) {
      if (i < kMicrobatches) stages[s].push_back(ForwardTask(s, i));
      if (i < ahead) continue;
      stages[s].push_back(BackwardTask(s, i - ahead));
      if (s + 1 == kStages) stages[s].back().after = static_cast<int>(stages[s].size()) - 2;  // the loss
    }
  }
  const auto result = RunStages(stages);
  ASSERT_GT(result.compute_time.value, 0);
  EXPECT_EQ(result.compute_time.value * (kMicrobatches + kStages - 1), result.step_time.value * kMicrobatches);
}

TEST(Pipeline, AChannelWithoutPartnerIsAnError) {
  const std::string first = StageProgram({{.from = 0, .to = 7}});
  const std::string second = StageProgram({{.from = 8, .to = 0}});
  RunFiles({first, second}, {.device = {.name = "A100_SXM_40GB"}}, &driver::kNoPartner);
}

TEST(Pipeline, PlacementsAreRanges) {
  EXPECT_THAT(*driver::ParseRanks("2-4"), testing::ElementsAre(2, 3, 4));
  EXPECT_THAT(*driver::ParseRanks("7"), testing::ElementsAre(7));
  for (const char* bad : {"", "-", "3-1", "a", "1-", "99999999"}) EXPECT_FALSE(driver::ParseRanks(bad).ok()) << bad;
}

}  // namespace
}  // namespace hespas
