// The event engine: owns the layers and runs events until none is left.
#pragma once

#include "simulate/astra_sim/network.h"
#include "simulate/engine/core.h"
#include "simulate/engine/statistics.h"
#include "simulate/engine/workload.h"

namespace hespas::simulate {

class EventEngine : public CallbackRunner {
 public:
  // `rank_classes`: the first rank of each class in the place of all of it (symmetry.h says when that is right).
  EventEngine(const trace::TraceGraph& trace, const hardware::System& system, const SimulateOptions& options,
              const EquivalentRanks* rank_classes);

  // The built-in core: starts all ranks, runs all events, finishes.
  Result<result::SimResult> Run();

  // The same in parts, for a clock and a carrier from outside.
  void RunOver(EventClock& clock, MessageCarrier& carrier);
  Status Start(uint32_t first_rank, uint32_t ranks);
  void SetNow(uint64_t now) { core_.queue.SetNow(now); }
  void Handle(const Event& event);
  void Deliver(const MatchKey& message) {
    if (!core_.failure) network_.Deliver(message);
  }
  bool done() const { return core_.failure || result_.order.size() >= core_.locals; }
  Result<result::SimResult> Finish();

  // One for many: the run has shown that ranks may differ, its result is void.
  bool asymmetric() const { return !core_.asymmetric.empty() || core_.agenda.ambiguous(); }
  std::string WhyAsymmetric() const {
    return core_.agenda.ambiguous() ? "ranks break a tie differently" : core_.asymmetric;
  }
  void Run(Callback callback) override;
  void Received(uint32_t stream) override { workload_.system_layer().algorithms().Received(stream); }

 private:
  void RunEvents();
  Status StartClasses();
  void SpreadToAll();
  void SpreadOrder();
  void DrainAgenda(uint32_t rank);
  void RunAction(uint32_t rank, const Action& action);

  result::SimResult result_;
  Core core_;
  Network network_;
  Statistics statistics_;
  Workload workload_;
};

}  // namespace hespas::simulate
