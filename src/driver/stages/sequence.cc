#include "driver/stages/sequence.h"

#include <fmt/format.h>

#include "split/split.h"

namespace hespas::driver {
namespace {

// How much a repeated window of a loop may differ from the one before it; beyond that more iterations are simulated.
constexpr double kSteady = 0.001;
constexpr double kAlmostSteady = 0.01;

// What follows the cut into blocks.
bool MakeRest(const RunOptions& options, Stages& stages, Diagnostics& diagnostics) {
  if (!stages.Estimate(options, diagnostics) || !stages.Assemble(options, diagnostics)) return false;
  // A single NPU has no network to simulate.
  const bool joins = options.network.backend != NetworkBackend::kNone && !stages.has_system() && stages.npus() > 1;
  if (joins && !stages.JoinDevices(options, diagnostics)) return false;
  return !stages.has_system() || stages.Simulate(options, diagnostics);
}

bool RepeatLonger(const RunOptions& options, Stages& stages, Diagnostics& diagnostics) {
  RunOptions longer = options;
  longer.split.loop_window = split::kLongWindow;
  Diagnostics told;  // the first time, as far as they are warnings
  if (!stages.Split(longer, told) || !MakeRest(longer, stages, told)) {
    for (const Diagnostic& diagnostic : told.all()) {
      if (!diagnostic.is_warning()) diagnostics.Report(diagnostic);
    }
    return false;
  }
  if (stages.loop_drift() > kAlmostSteady) {
    diagnostics.Warning(kNotSteady,
                        fmt::format("after {} iterations a loop's time still changes by {:.1f} % in {}",
                                    3 * split::kLongWindow, 100 * stages.loop_drift(), split::kLongWindow),
                        {.file = options.program.path});
  }
  return true;
}

}  // namespace

bool MakeTraces(const RunOptions& options, Stages& stages, Diagnostics& diagnostics) {
  return stages.Prepare(options, diagnostics) && stages.Estimate(options, diagnostics) &&
         stages.Assemble(options, diagnostics);
}

bool MakeStep(const RunOptions& options, Stages& stages, Diagnostics& diagnostics) {
  const bool named = options.network.backend != NetworkBackend::kNone && options.system.name != kAutoSystem;
  if (named && !stages.LoadSystem(options, diagnostics)) return false;
  if (!stages.Prepare(options, diagnostics) || !MakeRest(options, stages, diagnostics)) return false;
  return stages.loop_drift() <= kSteady || RepeatLonger(options, stages, diagnostics);
}

}  // namespace hespas::driver
