// The seam for network engines other than the built-in event core: what carries single messages and keeps the time
// below the workload layer (dependencies, slots, collective algorithms, statistics), which they all share.
//
// - Times are ticks of SimulateOptions::resolution since the start.
// - Callbacks run one at a time, in order of time, and those of After for one time in the order of the calls. They may
//   call Send and After; neither runs its callback before it returns.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "simulate/engine/match_key.h"
#include "simulate/simulate.h"

namespace hespas::simulate {

class MessageEngine {
 public:
  using Callback = std::function<void()>;
  virtual ~MessageEngine() = default;

  virtual uint64_t Now() const = 0;
  virtual void After(uint64_t delay, Callback callback) = 0;
  // `arrived` runs when the whole message is at its destination. The tag need only be carried where the destination
  // belongs to another HostedWorkload, which hears of the message by Deliver.
  virtual void Send(const MatchKey& message, Callback arrived) = 0;
  // Runs until no callback is left. Engines that drive the program themselves leave it out.
  virtual Status Run() { return {}; }
  // Traffic by link, where the engine counts it; asked for with SimulateOptions::record_links.
  virtual std::vector<result::LinkUse> Links() const { return {}; }
};

struct RankRange {
  uint32_t first = 0;
  uint32_t count = ~0u;  // at most all that follow
};

// The workload layer of some ranks over an engine. Engines with one process per NPU have a host in each; `local` then
// names the NPU.
class HostedWorkload {
 public:
  HostedWorkload(const trace::TraceGraph& trace, const hardware::System& system, SimulateOptions options,
                 MessageEngine& engine, RankRange local = {});
  ~HostedWorkload();

  // Checks the inputs and issues the first nodes, at time 0.
  Status Start();
  // A message from a rank of another host has arrived.
  void Deliver(const MatchKey& message);
  // All local ranks have finished, or the run has failed. Messages to others may still be under way: let the engine
  // run on until nothing is left.
  bool done() const;
  // After the last callback: what the local ranks did, or why they cannot finish.
  Result<result::SimResult> Finish();

 private:
  class Clock;
  std::unique_ptr<Clock> clock_;
};

// Start, engine.Run and Finish for all ranks.
Result<result::SimResult> SimulateOver(MessageEngine& engine, const trace::TraceGraph& trace,
                                       const hardware::System& system, const SimulateOptions& options);

}  // namespace hespas::simulate
