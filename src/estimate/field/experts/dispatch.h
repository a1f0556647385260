// Time of the all-to-all of experts as DeepEP's kernels do it: each rank's tokens go to the ranks of their experts
// (dispatch), and their results come back (combine).
//
// - Normal kernels send a token once to each rank, and once to each host, that has one of its experts; `sms`
//   multiprocessors copy. Those of low latency send it once for each expert, with all multiprocessors.
#pragma once

#include "estimate/field/matmul.h"

namespace hespas::estimate::field {

struct Dispatch {
  bool combine = false;
  bool low_latency = false;
  double hosts = 1, ranks = 8;
  double tokens = 1;  // of a rank
  double hidden = 1, chosen = 1, experts = 1;
  double sms = 20;
};

// byte/us of a rank, one way: to the other ranks of its host, and to other hosts; 0: none.
struct DispatchLinks {
  double within = 0, between = 0;
};
DispatchLinks LinksOf(const hardware::Device& device);

// A kernel's, normal and of low latency.
struct DispatchKernel {
  double start_clocks = 0, low_latency_start_clocks = 0;
  double host_clocks = 0;                   // for each doubling of the hosts
  double bytes = 0, low_latency_bytes = 0;  // a clock that a multiprocessor copies
  double reads = 0;                         // of a token, in copies
  double link_fraction = 0;
  double sigma = 0;
};

// Of data/models/field.json, as the others (constants.h).
struct DispatchConstants {
  DispatchKernel dispatch, combine;
};
const Result<DispatchConstants>& DefaultDispatchConstants();

Time TimeOf(const Chip& chip, const DispatchConstants& constants, const DispatchLinks& links, const Dispatch& row);

}  // namespace hespas::estimate::field
