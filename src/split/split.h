// Turns a lowered module into a graph of compute and communication blocks.
//
// - Every op of `main` is in exactly one block; constants (ops without operands) may be copied into their users.
// - The graph is acyclic and its ids follow program order, for any number of threads.
// - Collectives are always blocks of their own; values captured by regions are operands like any other.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/result.h"
#include "graph/block_graph.h"
#include "ir/module.h"
#include "split/separator.h"

namespace hespas::split {

inline constexpr DiagnosticKind kNoMain{
    "E0501", "The program has no function `main`, so there is nothing to run. Name the entry function `main`."};
inline constexpr DiagnosticKind kHiddenCollective{
    "W0502",
    "A collective is inside a called function, a loop or a branch. It is not simulated on the network; inline the "
    "call or unroll the loop (--optimise does both where it can)."};
inline constexpr DiagnosticKind kIterationsLeftOut{
    "W0504",
    "A loop with communication has too many iterations to unroll. A few are simulated, and one window of them "
    "represents the others: step times count all iterations, execution traces hold only those."};

enum class Strategy : uint8_t { kLinear, kIndividual };

// Windows of loops (Options::loop_window): for loops that soon come into step, and for others.
inline constexpr int64_t kShortWindow = 4;
inline constexpr int64_t kLongWindow = 64;

struct Options {
  Strategy strategy = Strategy::kIndividual;
  bool merge = false;         // individual only: join compute blocks where that delays no collective
  size_t block_limit = 1024;  // ops; linear only
  Separator separator = Separator::kCommunication;                     // linear only
  SeparatorPolicy policy = SeparatorPolicy::kIsolated;                 // linear only
  graph::BlockKind separator_kind = graph::BlockKind::kCommunication;  // linear and isolated only
  int64_t loop_window = 0;  // iterations that represent those of a loop that are not laid out (RepeatedLoop); 0: all
                            // are. Individual without merge only.
  bool compat = false;      // the Python prototype's blocks in its trace order, defects included
};

Result<graph::BlockGraph> Split(const ir::Module& module, const Options& options, Diagnostics& diagnostics);

}  // namespace hespas::split
