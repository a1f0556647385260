// Which matmuls, convolutions and library calls of a program are recomputation: rematerialisation of activations
// (JAX's `checkpoint`, PyTorch/XLA's checkpointing, XLA's own rematerialisation pass).
//
// - By name: JAX calls what it computes a second time `.../rematted_computation/...` (transpose rule of `checkpoint` in
//   jax/_src/ad_checkpoint.py, JAX 0.7.2).
// - By value: an op that computes what another one has computed, where barriers (jax.checkpoint with prevent_cse),
// loops
//   or a compiler's `.remat` copies keep CSE from merging them (ir/facts/value_numbers.h).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/module.h"

namespace hespas::ir {

// An op of the step and how often it runs. Of a conditional the branch with most of them counts.
struct ExecutedOp {
  OpId op;
  double times = 1;
};

struct Recomputation {
  std::vector<ExecutedOp> all;
  std::vector<ExecutedOp> again;  // of them, what had been computed before
};

// `optimised`: a compiler's result, in which nothing will be merged any more. Nothing where the program does not tell:
// without names in a compiler's result, whose barriers are gone and whose copies may differ; and where barriers or
// several loops may hide recomputation, but no equal values show it.
std::optional<Recomputation> RecomputationOf(const Module& module, bool optimised);

}  // namespace hespas::ir
