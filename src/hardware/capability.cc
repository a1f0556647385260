#include "hardware/capability.h"

#include <charconv>

namespace hespas::hardware {

int ComputeCapability(const Device& device) {
  int capability = 0;
  const std::string& name = device.architecture;
  if (name.starts_with("sm_")) std::from_chars(name.data() + 3, name.data() + name.size(), capability);
  return capability;
}

}  // namespace hespas::hardware
