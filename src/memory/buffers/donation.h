// Which results of `main` are in the buffers of which arguments.
//
// - Read from the module's alias table (HLO's or MLIR's spelling) and from `tf.aliasing_output` and `jax.buffer_donor`
//   of the arguments; a donor without a result of its own serves the first one of its type.
#pragma once

#include <cstdint>
#include <vector>

#include "ir/module.h"

namespace hespas::memory {

struct Donation {
  static constexpr uint32_t kNone = 0xFFFFFFFFu;
  std::vector<uint32_t> argument_of_result;  // kNone: a buffer of its own
  std::vector<bool> donated;                 // by argument
};

Donation DonationOf(const ir::Module& module);

}  // namespace hespas::memory
