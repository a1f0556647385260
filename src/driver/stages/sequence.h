// The order in which every run, what-if and point of a sweep takes the stages.
//
// - Who asks says by Stages where a stage's result comes from: computed now, left by a finished run, or shared by
// points.
#pragma once

#include <cstddef>

#include "base/diagnostic.h"
#include "driver/stages/run_options.h"

namespace hespas::driver {

inline constexpr DiagnosticKind kNotSteady{
    "W0903",
    "A loop has too many iterations to simulate all of them, and the simulated ones did not reach a steady state. The "
    "others count as long as the last simulated ones."};

// Each stage makes or finds its result and keeps it; false: the diagnostics say why there is none.
class Stages {
 public:
  virtual ~Stages() = default;

  virtual bool LoadSystem(const RunOptions& options, Diagnostics& diagnostics) = 0;  // the named one
  virtual bool Prepare(const RunOptions& options, Diagnostics& diagnostics) = 0;     // read, optimise, split
  virtual bool Split(const RunOptions& options, Diagnostics& diagnostics) = 0;       // again, with another loop window
  virtual bool Estimate(const RunOptions& options, Diagnostics& diagnostics) = 0;
  virtual bool Assemble(const RunOptions& options, Diagnostics& diagnostics) = 0;
  virtual bool JoinDevices(const RunOptions& options, Diagnostics& diagnostics) = 0;  // the device's node as system
  virtual bool Simulate(const RunOptions& options, Diagnostics& diagnostics) = 0;

  // Of the results so far.
  virtual bool has_system() const = 0;
  virtual size_t npus() const = 0;        // of the traces
  virtual double loop_drift() const = 0;  // result::SimResult; 0 where nothing was simulated
};

// Up to the traces, without a network.
bool MakeTraces(const RunOptions& options, Stages& stages, Diagnostics& diagnostics);

// All stages; loops that have not come into step are cut and simulated once more, with more iterations.
bool MakeStep(const RunOptions& options, Stages& stages, Diagnostics& diagnostics);

}  // namespace hespas::driver
