// Time of the gradients of attention: FlashAttention's backward kernels, which cuDNN's resemble (Dao, 2023).
//
// - A block holds a tile of keys and values and goes through the queries that see it: five matmuls a score, whose
//   scores are computed again. Sums of the queries' gradients stay in L2, where all blocks add to them in 32 bits.
// - A kernel before multiplies outputs by their gradients and clears the sums; one after it rounds them. Where query
//   heads share keys, another one sums their gradients.
#pragma once

#include "estimate/field/attention.h"

namespace hespas::estimate::field {

double BackwardUs(const Chip& chip, const Constants& constants, const AttentionCall& call);

}  // namespace hespas::estimate::field
