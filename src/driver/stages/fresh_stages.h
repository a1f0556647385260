// Stages that compute all their results, as a run of its own does.
#pragma once

#include <chrono>
#include <optional>
#include <string_view>

#include "driver/stages/assemble.h"
#include "driver/stages/sequence.h"

namespace hespas::driver {

// Logs what a stage took, at level info.
class StageTimer {
 public:
  void Done(std::string_view stage);

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

// Reads, optimises and splits.
std::optional<Prepared> Prepare(const RunOptions& options, Diagnostics& diagnostics);
// Optimises and splits; where passes run, the program can be taken again.
std::optional<Prepared> PrepareFrom(const RunOptions& options, hardware::Device device, ReadProgram& program,
                                    Diagnostics& diagnostics);

class FreshStages : public Stages {
 public:
  bool LoadSystem(const RunOptions& options, Diagnostics& diagnostics) override;
  bool Prepare(const RunOptions& options, Diagnostics& diagnostics) override;
  bool Split(const RunOptions& options, Diagnostics& diagnostics) override;
  bool Estimate(const RunOptions& options, Diagnostics& diagnostics) override;
  bool Assemble(const RunOptions& options, Diagnostics& diagnostics) override;
  bool JoinDevices(const RunOptions& options, Diagnostics& diagnostics) override;
  bool Simulate(const RunOptions& options, Diagnostics& diagnostics) override;

  bool has_system() const override { return system.has_value(); }
  size_t npus() const override { return traces->program_of_rank.size(); }
  double loop_drift() const override { return simulated ? simulated->loop_drift.value_or(0) : 0; }

  std::optional<hardware::System> system;  // absent: no network is simulated
  std::optional<Prepared> prepared;
  std::optional<Estimated> estimated;
  std::optional<trace::TraceGraph> traces;
  std::optional<result::SimResult> simulated;

 private:
  StageTimer timer_;
};

}  // namespace hespas::driver
