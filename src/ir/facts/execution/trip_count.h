// How often a `while` runs its body, where constants in the program say so.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "ir/module.h"

namespace hespas::ir {

// For loops that count: an integer carried from a constant, stepped by a constant, compared with a constant (the bounds
// may themselves be carried unchanged or captured).
std::optional<int64_t> TripCount(const Module& module, OpId loop);

// Holds what the user says of a loop whose iterations the program does not tell.
inline constexpr std::string_view kAssumedTripCount = "hespas.trip_count";

// Whether the loop's condition runs: where the compiler knows the trip count, it does not (XLA's while_thunk.cc).
bool TestsEachIteration(const Module& module, OpId loop);

}  // namespace hespas::ir
