// How an algorithm tells the system layer that its phase of a stream is over.
#pragma once

#include <cstdint>
#include <string>

namespace hespas::simulate {

struct Stream;

class PhaseEnds {
 public:
  virtual ~PhaseEnds() = default;
  virtual void PhaseEnd(uint32_t stream) = 0;
  // "NPU 3, node 7" of the collective that the stream belongs to, for messages.
  virtual std::string Describe(const Stream& stream) const = 0;
};

}  // namespace hespas::simulate
