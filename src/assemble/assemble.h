// Turns blocks and their estimates into what every rank executes.
//
// - Ranks with equal programs share one (a rank class). Collectives have all their members; all-gather carries the
//   bytes that each NPU contributes, the others the full buffer, as ASTRA-sim reads them.
// - collective_permute becomes sends and receives; collectives of one member cost nothing.
// - Durations are the estimates' exact picoseconds.
#pragma once

#include <cstdint>
#include <optional>

#include "base/result.h"
#include "graph/block_graph.h"
#include "graph/estimate_table.h"
#include "trace/trace_graph.h"

namespace hespas::assemble {

inline constexpr DiagnosticKind kTooFewNpus{
    "E0601",
    "The program's replica groups name more devices than there are NPUs. Raise --num-npus, or leave it out: it "
    "then follows from the program.",
    Outcome::kUsage};
inline constexpr DiagnosticKind kRepeatedMember{
    "E0602",
    "A device is in more than one replica group of a collective, or twice in one. Each device takes part once."};
inline constexpr DiagnosticKind kUnreadableGroups{
    "E0603", "The replica groups or source-target pairs of a collective could not be read."};
inline constexpr DiagnosticKind kTooManyNpus{
    "E0604", "The options or the program ask for more NPUs than Hespas can represent (the limit is 1,048,576)."};
inline constexpr DiagnosticKind kMemberMissing{
    "W0605", "The replica groups of a collective leave devices out; those do not take part in it."};
inline constexpr DiagnosticKind kIdleNpus{
    "W0606",
    "The number of NPUs is not a multiple of what the program needs. Whole copies of the program run beside each "
    "other; the NPUs that are left over idle."};
inline constexpr DiagnosticKind kCopies{
    "W0608",
    "There are several times as many NPUs as the program was written for. Copies of it run beside each other and "
    "exchange nothing, so the step takes as long as one copy. --retarget spreads the program over more devices."};
inline constexpr DiagnosticKind kHostTransfer{
    "W0607", "A send or receive names no other device (a transfer to or from the host); it is not simulated."};

struct Options {
  std::optional<uint32_t> num_npus;  // default: what the program's replica groups imply
  bool open_channels = false;        // sends and receives without pairs become messages to NPU -1, tagged by channel
  bool compat = false;               // the Python prototype's kinds, sizes and groups, defects included
};

Result<trace::TraceGraph> Assemble(const ir::Module& module, const graph::BlockGraph& graph,
                                   const graph::EstimateTable& estimates, const Options& options,
                                   Diagnostics& diagnostics);

// Gives the nodes of a finished assembly the durations and sizes of other estimates of the same blocks.
void SetDurations(const graph::EstimateTable& estimates, trace::TraceGraph& traces);

// How many devices the module was partitioned and replicated for (its attributes; 1 where absent).
struct DeviceCounts {
  uint32_t replicas = 1;
  uint32_t partitions = 1;
};
DeviceCounts DeviceCountsOf(const ir::Module& module);

}  // namespace hespas::assemble
