// What `hespas goodput` takes from the prediction of one step.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/price.h"
#include "driver/pipeline/pipeline.h"
#include "goodput/power/node_power.h"

namespace hespas::goodput {

inline constexpr DiagnosticKind kNoTokens{
    "E0876",
    "The program does not tell how many tokens or samples a step works through (docs/reports.md says how that is read "
    "off its arguments). Tell it with --batch.",
    Outcome::kUsage};
inline constexpr DiagnosticKind kNoState{"E0877",
                                         "No argument of the program comes back as a result, so it does not tell what "
                                         "a checkpoint holds. Tell its size with "
                                         "--state.",
                                         Outcome::kUsage};

// What a training step hands to the next one: arguments whose type is that of a result, each result once.
struct State {
  double all = 0;     // bytes; what several devices hold alike counts once
  double device = 0;  // of one device
};
// Where an argument states no sharding, every device holds a part of its own.
State StateOf(const ir::Module& module, int64_t devices);

struct Step {
  std::string program;
  std::string device;
  std::string family;  // "gpu", "tpu"
  int64_t devices = 1;
  double seconds = 0;
  double sigma = 0;  // relative
  double batch = 0;  // tokens or samples of all devices; 0: the program does not tell
  std::string unit = "tokens";
  State state;
  DeviceLoad load;  // no TDP: the device's power is unknown
  double host_bandwidth = 0;
  std::optional<Price> price;  // of a device and hour
};

// All stages of `hespas run`.
std::optional<Step> StepOf(const driver::RunOptions& options, Diagnostics& diagnostics);

}  // namespace hespas::goodput
