// How often a `while` runs its body, where constants in the program say so.
#pragma once

#include <cstdint>
#include <optional>

#include "ir/module.h"

namespace hespas::ir {

// For loops that count: an integer carried from a constant, stepped by a constant, compared with a constant (the bounds
// may themselves be carried unchanged or captured).
std::optional<int64_t> TripCount(const Module& module, OpId loop);

}  // namespace hespas::ir
