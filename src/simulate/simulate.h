// Simulates a trace on a system: ASTRA-sim's analytical backends, tick for tick (spec astra-sim).
//
// - A run that cannot finish is an error (Outcome::kCannotRun) that names node, NPU and cause.
// - With Resolution::kNanosecond ticks and truncations are ASTRA-sim's. With kPicosecond compute durations are exact
//   and every network delay is the nanosecond delay times 1000, so both agree wherever durations are whole nanoseconds.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/progress.h"
#include "base/result.h"
#include "hardware/links/link_graph.h"
#include "hardware/system.h"
#include "result/sim_result.h"
#include "trace/trace_graph.h"

namespace hespas::simulate {

inline constexpr DiagnosticKind kBadTrace{
    "E0701", "A trace cannot be simulated as it stands: a node refers to what does not exist or is of an unknown kind.",
    Outcome::kCannotRun};
inline constexpr DiagnosticKind kNeverFinishes{
    "E0702",
    "The simulation is deadlocked: no event is left, and nodes still wait. The message names node, NPU and cause.",
    Outcome::kCannotRun};
inline constexpr DiagnosticKind kNotPossible{
    "E0703", "The system description asks for a collective or an access that this system cannot perform.",
    Outcome::kCannotRun};
inline constexpr DiagnosticKind kRankMismatch{
    "E0704", "The number of ranks in the trace and of NPUs in the network differ.", Outcome::kCannotRun};

enum class Backend : uint8_t { kUnaware, kAware, kCarried };  // (un)aware of congestion; by a MessageEngine
enum class Resolution : uint8_t { kNanosecond, kPicosecond };
enum class Engine : uint8_t { kAuto, kEvents, kSymmetry };

struct SimulateOptions {
  Backend backend = Backend::kUnaware;
  Resolution resolution = Resolution::kNanosecond;
  Engine engine = Engine::kAuto;
  uint32_t queues_per_dimension = 1;
  double injection_scale = 1;
  bool rendezvous = false;
  bool record_nodes = false;  // SimResult::intervals
  bool explain = false;       // critical path and collectives too; needs record_nodes
  bool record_links = false;
  bool keep_order = true;        // SimResult::order also where two classes of ranks finish at the same tick
  uint64_t event_limit = 0;      // 0: none
  Progress* progress = nullptr;  // of nodes, where events are simulated

  // Beyond ASTRA-sim; the defaults are its behaviour.
  std::vector<double> compute_scale;  // factor on compute durations of each rank; ranks without one: 1
  double noise = 0;                   // relative standard deviation of compute durations (log-normal, mean 1)
  uint64_t noise_seed = 0;
  uint32_t communication_streams = 1;  // collectives and sends in flight at each rank
  bool separate_stream_ids = false;    // collectives of groups do not disturb those of all ranks (spec astra-sim, A2)
  std::optional<hardware::LinkGraph> graph;                 // aware: routes in place of the system's dimensions
  std::vector<std::pair<uint32_t, uint32_t>> failed_links;  // aware: devices that a link joined, in both directions
};

Result<result::SimResult> Simulate(const trace::TraceGraph& trace, const hardware::System& system,
                                   const SimulateOptions& options, Diagnostics& diagnostics);

}  // namespace hespas::simulate
