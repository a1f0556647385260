// Which algorithm and protocol NCCL takes for a collective within a host: the least time that it expects itself.
//
// - Its expectations and the truth differ, by a factor of three for protocol Simple on short messages; they decide all
//   the same, so a price follows what they decide (link_constants.h has the prices).
// - From NCCL 2.30 (5067397c): src/graph/tuning.cc, ncclTopoTuneModel and ncclTopoGetAlgoTime. Left out: trees, which
//   it never expects to be the fastest on 2 to 8 ranks of one host.
#pragma once

#include <cstdint>

#include "network/collective_model.h"

namespace hespas::network {

// LL sends a flag with each 4 bytes, LL128 with each 120; Simple synchronises slices.
enum class Protocol : uint8_t { kLl, kLl128, kSimple };
inline constexpr size_t kProtocols = 3;

// Row of NCCL's tables (compCapIndex): Volta and older, Ampere and Ada, Hopper, Blackwell.
int GenerationOf(int capability);

struct NcclHost {
  double ranks = 2;
  double bandwidth = 0;          // byte/us of a rank's links, as NCCL's own table has them
  int capability = 0;            // 0: not known
  bool nvlink = false;           // else PCIe
  double switch_efficiency = 0;  // of reductions in the host's switch; 0: none for this collective
};

struct NcclChoice {
  Protocol protocol = Protocol::kSimple;
  bool in_switch = false;  // NVLS
};

// Channels of rings and trees within a host.
int ChannelsOfNccl(const NcclHost& host);

// Of an all-reduce, an all-gather or a reduce-scatter.
NcclChoice ChoiceOfNccl(Operation op, double bytes, const NcclHost& host);

}  // namespace hespas::network
