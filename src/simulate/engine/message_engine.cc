#include "simulate/engine/message_engine.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "simulate/check.h"
#include "simulate/engine/event_engine.h"
#include "simulate/engine/loops.h"
#include "simulate/explain.h"

namespace hespas::simulate {

// Hands the events of the workload layer to the engine and runs them when their time has come.
class HostedWorkload::Clock : public EventClock, public MessageCarrier {
 public:
  Clock(const trace::TraceGraph& trace, const hardware::System& system, SimulateOptions options, MessageEngine& engine,
        RankRange local)
      : trace_(trace), system_(system), options_(Carried(std::move(options))), engine_(engine), local_(local) {}

  Status Start() {
    if (Status checked = CheckInputs(trace_, system_, options_); !checked) return checked.error();
    const auto ranks = static_cast<uint32_t>(system_.npus());
    local_.first = std::min(local_.first, ranks);
    local_.count = std::min(local_.count, ranks - local_.first);
    workload_.emplace(trace_, system_, options_, nullptr);
    workload_->RunOver(*this, *this);
    return workload_->Start(local_.first, local_.count);
  }

  void Deliver(const MatchKey& message) {
    if (!workload_) return;
    workload_->SetNow(engine_.Now());
    workload_->Deliver(message);
  }

  bool done() const { return !workload_ || workload_->done(); }

  Result<result::SimResult> Finish() {
    Result<result::SimResult> result = workload_->Finish();
    if (!result) return result;
    if (options_.record_links) result->links = engine_.Links();
    const bool all = local_.count == system_.npus();
    if (options_.record_nodes && all && !trace_.loops.empty()) RepeatLoops(trace_, *result);
    if (options_.record_nodes && all && options_.explain) ExplainIntervals(trace_, *result);
    return result;
  }

  uint64_t Now() const override { return engine_.Now(); }
  void Schedule(uint64_t time, const Event& event) override {
    const uint32_t index = events_.Take(event);
    engine_.After(time - engine_.Now(), [this, index] {
      const Event due = events_[index];
      events_.Release(index);
      RunNow(due);
    });
  }
  void Carry(const MatchKey& key, uint32_t message) override {
    engine_.Send(key, [this, message] { RunNow({.kind = EventKind::kArrive, .a = message}); });
  }
  bool IsLocal(uint32_t rank) const override { return rank - local_.first < local_.count; }

 private:
  static SimulateOptions Carried(SimulateOptions options) {
    options.backend = Backend::kCarried;
    return options;
  }
  void RunNow(const Event& event) {
    workload_->SetNow(engine_.Now());
    workload_->Handle(event);
  }

  const trace::TraceGraph& trace_;
  const hardware::System& system_;
  const SimulateOptions options_;
  MessageEngine& engine_;
  Pool<Event> events_;
  std::optional<EventEngine> workload_;  // once the inputs are checked
  RankRange local_;
};

HostedWorkload::HostedWorkload(const trace::TraceGraph& trace, const hardware::System& system, SimulateOptions options,
                               MessageEngine& engine, RankRange local)
    : clock_(std::make_unique<Clock>(trace, system, std::move(options), engine, local)) {}

HostedWorkload::~HostedWorkload() = default;

Status HostedWorkload::Start() { return clock_->Start(); }
void HostedWorkload::Deliver(const MatchKey& message) { clock_->Deliver(message); }
bool HostedWorkload::done() const { return clock_->done(); }
Result<result::SimResult> HostedWorkload::Finish() { return clock_->Finish(); }

Result<result::SimResult> SimulateOver(MessageEngine& engine, const trace::TraceGraph& trace,
                                       const hardware::System& system, const SimulateOptions& options) {
  HostedWorkload host(trace, system, options, engine);
  if (Status started = host.Start(); !started) return started.error();
  if (Status run = engine.Run(); !run) return run.error();
  return host.Finish();
}

}  // namespace hespas::simulate
