// `hespas goodput`: from a step and settings to the length, energy, cost and emissions of a whole run.
//
// - Both engines answer: the closed form the mean, the simulation every figure with its percentiles.
// - Equal options give equal answers.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "goodput/model/closed_form.h"
#include "goodput/model/simulation.h"
#include "goodput/settings.h"
#include "goodput/step.h"

namespace hespas::goodput {

enum class CheckpointKind : uint8_t { kSync, kAsync, kMemory, kTiers };
inline constexpr std::array<std::string_view, 4> kCheckpointKinds = {"sync", "async", "memory", "tiers"};

struct Options {
  double tokens = 0;  // or samples: what the run works through
  std::string study;  // of failure rates; empty: llama3, or tpuv4 for TPUs
  std::string mtbf;   // of the whole job, in place of the study's
  std::string checkpoint = "async";
  std::string interval = "best";  // a time, or young, daly, best, simulated
  std::string state;              // bytes of a checkpoint; empty: the program's
  std::string batch;              // tokens of a step; empty: the program's
  std::optional<int64_t> spares;  // nodes; absent: as many as make waiting for one rare
  std::string elastic;            // least number of nodes; empty: the job waits
  int64_t runs = 400;
  uint64_t seed = 1;
  std::vector<std::pair<std::string, std::string>> settings;
};

struct Spread {
  double mean = 0;
  double sigma = 0;
  double p5 = 0;
  double p50 = 0;
  double p95 = 0;
};

struct Bottleneck {
  std::string name;
  double seconds = 0;  // mean
};

struct Power {
  double device_w = 0;  // while training
  double node_w = 0;    // the same, at the plug
  double pause_w = 0;   // of a node while training pauses
  double clock = 1;     // of the maximum
  double step = 1;      // time of a step over that without a power cap
};

struct Answer {
  Step step;
  Options options;
  Settings settings;
  Plan plan;
  int64_t steps = 0;
  double ideal = 0;  // seconds: the steps and nothing else
  double straggling = 1;
  double checkpoint_bytes = 0;
  double young = 0;
  double daly = 0;
  double best = 0;
  std::string failures_from;
  std::vector<Component> components;  // rates of the job, a day
  ClosedForm closed_form;
  Spread wall;  // seconds
  Spread goodput;
  Spread tokens_per_day;
  Spread failures;
  std::optional<Power> power;
  std::optional<Spread> energy;  // J, at the grid
  std::optional<Spread> carbon;  // kg
  std::optional<Spread> cost;
  std::vector<Bottleneck> waterfall;  // adds up to the mean wall time
  std::vector<std::string> unknown;   // settings that the answer leaves out
};

Result<Answer> Estimate(const Step& step, const Options& options);

// Mean of the largest of `count` draws of a standard normal distribution.
double LargestNormal(int64_t count);

}  // namespace hespas::goodput
