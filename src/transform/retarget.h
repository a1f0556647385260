// The same program on another number of devices, along an axis of pure data parallelism or FSDP.
//
// - Devices are numbered data axis first: each collective runs over all devices, over the data axis (every t-th device)
//   or, with tensor parallelism within, over t neighbours. Groups of t neighbours stay; the others grow or shrink.
// - Shards (transform/shard_dimensions.h) have n / m of their size on m devices in place of n; all else, the batch of a
//   device among it, stays (weak scaling). Tables of offsets, slice sizes, shardings of arguments follow.
// - Where shards do not divide among that many, the most that they divide among share them, and replicas of these run
//   beside each other (HSDP): gradients are reduced within each, then among the replicas.
// - The result passes verification; what does not fit is E0545 and leaves the program unspecified.
#pragma once

#include "base/result.h"
#include "ir/module.h"

namespace hespas::transform {

inline constexpr DiagnosticKind kCannotRetarget{
    "E0545",
    "The program cannot be converted to that number of devices: only an axis of pure data parallelism or FSDP can "
    "grow or "
    "shrink, along which all collectives are all-reduces, all-gathers, reduce-scatters and broadcasts over all its "
    "devices, and "
    "every shard has to divide evenly. Export the program for that number of devices instead."};

inline constexpr DiagnosticKind kReplicated{
    "W0545",
    "The program's shards do not divide among that many devices. The most that they divide among share them, and "
    "replicas of these groups run beside each other (HSDP): gradients are reduced within a group, then among groups."};

struct Retargeted {
  int64_t sharded = 1;   // devices that share the parameters
  int64_t replicas = 1;  // groups of these
};

Result<Retargeted> Retarget(ir::Module& module, int64_t devices);

}  // namespace hespas::transform
