// WhatIf: the step time that `hespas run` gives with one thing changed, or about gives.
#pragma once

#include <string>

#include "base/units.h"

namespace hespas::result {

struct WhatIf {
  std::string name;     // "2x memory bandwidth"
  std::string options;  // what to add to the command: "--set device.memory_bandwidth=2x"
  Time step_time;
  bool estimated = false;  // from the recorded terms of the blocks, not by a run
};

}  // namespace hespas::result
