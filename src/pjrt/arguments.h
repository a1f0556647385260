// Values for a program's arguments: of any shape, small, positive and the same in every run.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace hespas::pjrt {

inline constexpr DiagnosticKind kNoValues{
    "E0592", "There are no values for an argument: its element type is not one that programs are run with here.",
    Outcome::kUnsupported};

struct ArgumentType {
  std::string element;  // as StableHLO writes it: f32, bf16, i32, i1, ...
  std::vector<int64_t> shape;
};

struct HostArray {
  int type = 0;  // PJRT_Buffer_Type
  std::vector<int64_t> shape;
  std::string bytes;  // dense, row major
};

// Floating-point numbers are in [0.5, 2), integers and booleans are 1: indices stay valid, loops end.
Result<HostArray> ValuesOf(const ArgumentType& type);

}  // namespace hespas::pjrt
