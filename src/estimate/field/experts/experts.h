// Time of one rank's layer of experts inside a CUDA graph, from routing to finalisation, without communication.
//
// - Two matmuls, each one kernel for all experts that tokens reach; passes over rows before, between and after them.
// - Where loads follow a power law, the busiest rank is meant.
#pragma once

#include "estimate/field/matmul.h"

namespace hespas::estimate::field {

struct ExpertLayer {
  Format format = Format::kF16;
  double weight_bytes = 0;  // of an element, where weights alone are narrower; 0: the format's
  double tokens = 1;        // of all ranks
  double hidden = 1, inner = 1;
  double chosen = 1;    // experts of a token
  double experts = 1;   // of all ranks
  double tensor = 1;    // ranks that split each expert
  double ranks = 1;     // that split the experts
  bool gated = true;    // three matrices an expert, else two
  double exponent = 0;  // of the power law of loads; 0: balanced
};

Time TimeOf(const Chip& chip, const Constants& constants, const ExpertLayer& layer);

// A layer beside its two matmuls: routing, gathering, quantising, activation, summing, and the start of a graph.
struct ExpertPasses {
  Format format = Format::kF16;
  double weight_bytes = 0;       // as a matmul's
  double chosen = 1;             // experts of a token
  double experts = 1;            // of all ranks
  double rows = 0;               // of the rank's experts
  double hidden = 1, inner = 1;  // elements of a row outside and inside
  double matrices = 2;           // that write inner elements: two if gated, else one
};
double PassesUs(const Chip& chip, const Constants& constants, const ExpertPasses& passes);

}  // namespace hespas::estimate::field
