// How an algorithm tells the system layer that its phase of a stream is over.
#pragma once

#include <cstdint>

namespace hespas::simulate {

class PhaseEnds {
 public:
  virtual ~PhaseEnds() = default;
  virtual void PhaseEnd(uint32_t stream) = 0;
};

}  // namespace hespas::simulate
