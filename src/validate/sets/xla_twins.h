// Our optimiser against XLA's own compiler on the same programs, both results costed by the same model.
//
// - A folder holds NAME.mlir and what XLA made of it, NAME.DEVICE.hlo (plain, .gz or .zst); data/xla-twins unless
//   another is named. XLA compiled without a device at hand, so autotuning is off on both sides.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "base/progress.h"
#include "report/text/table.h"

namespace hespas::validate {

inline constexpr DiagnosticKind kNoTwins{
    "E0982", "The folder holds no pair of programs: NAME.mlir and XLA's result for it, NAME.DEVICE.hlo."};

// What both programs amount to.
struct TwinFigures {
  double kernels = 0;
  double bytes = 0;
  double flops = 0;
  double step_seconds = 0;
  double peak_bytes = 0;
  std::string collectives;  // kinds with their bytes
};

struct Twin {
  std::string program;
  std::string device;
  TwinFigures ours;
  TwinFigures theirs;
};

struct TwinOptions {
  std::string folder;              // empty: data/xla-twins
  std::vector<std::string> flags;  // XLA's, beside autotuning off
  Progress* progress = nullptr;
};

std::optional<std::vector<Twin>> CompareTwins(const TwinOptions& options, Diagnostics& diagnostics);

// One row a twin, differences in percent.
report::Table TwinTable(const std::vector<Twin>& twins);

// One row a figure: how many twins lie within the bound of 90 % of programs and of all of them.
report::Table TwinSummary(const std::vector<Twin>& twins);

}  // namespace hespas::validate
