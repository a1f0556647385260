// The event engine: owns the layers and runs events until none is left.
#pragma once

#include "simulate/core.h"
#include "simulate/network.h"
#include "simulate/statistics.h"
#include "simulate/workload.h"

namespace hespas::simulate {

class EventEngine : public CallbackRunner {
 public:
  EventEngine(const trace::TraceGraph& trace, const hardware::System& system, const SimulateOptions& options);

  Result<result::SimResult> Run();
  void Run(Callback callback) override;

 private:
  void RunEvents();
  void DrainAgenda(uint32_t rank);
  void RunAction(uint32_t rank, const Action& action);

  result::SimResult result_;
  Core core_;
  Network network_;
  Statistics statistics_;
  Workload workload_;
};

}  // namespace hespas::simulate
