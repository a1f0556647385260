// Time of the attention of prompts, without the start of a graph.
//
// - Of a score: the matmuls, reading operands out of shared memory with mma.sync, and the softmax on special units and
//   lanes overlap in part. Board power bounds what they do together.
// - Blocks compute whole tiles of queries and keys; tiles under the mask are skipped.
// - Before it a kernel rotates queries and keys, and writes new keys and values.
#pragma once

#include "estimate/field/attention.h"

namespace hespas::estimate::field {

// Scores under the mask, of one head.
double Scores(const AttentionCall& call, bool causal);

double ContextUs(const Chip& chip, const Constants& constants, const AttentionCall& call);

}  // namespace hespas::estimate::field
