// MeasuredStep: one step of one device as a profiler recorded it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/units.h"

namespace hespas::trace {

struct MeasuredOp {
  static constexpr uint32_t kNoParent = 0xFFFFFFFFu;

  std::string name;             // of the instruction or kernel: "fusion.3", "ncclDevKernel_AllReduce_..."
  std::string framework;        // "jit(step)/mlp/dot_general"; "" where the profiler does not say
  uint32_t lane = 0;            // stream or thread
  uint32_t parent = kNoParent;  // the op of the same lane that it ran inside of
  bool communication = false;
  Time start;  // from the start of the step
  Time end;
};

struct MeasuredStep {
  std::string profiler;         // "XLA", "Kineto"
  std::string device;           // "/device:GPU:0"
  size_t devices = 0;           // that the trace has operations of
  size_t steps = 0;             // that the trace holds
  size_t index = 0;             // of this one, the median by length
  Time length;                  // until the next step begins; of the last one until its last operation ends
  std::vector<MeasuredOp> ops;  // by start; an op is behind its parent
};

}  // namespace hespas::trace
