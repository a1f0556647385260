// Quantities as people write them: "3.35 TB/s", "40 MiB", "312 TFLOP/s", "1.41 GHz", "900 ns", "400 W".
#pragma once

#include <string_view>

#include "base/result.h"

namespace hespas {

inline constexpr DiagnosticKind kBadQuantity{
    "E0005",
    "A quantity is a number and a unit, for example \"3.35 TB/s\", \"40 MiB\", \"312 TFLOP/s\", \"1.41 GHz\", "
    "\"900 ns\" or \"400 W\". Prefixes are decimal (k M G T P E) or binary (Ki Mi Gi ...); B is bytes, b is bits."};

enum class Unit { kNumber, kBytes, kBytesPerSecond, kFlopsPerSecond, kSeconds, kHertz, kWatts };

// The quantity in bytes, bytes/s, flop/s, seconds, hertz or watts. A number without unit is in that base unit.
Result<double> ParseQuantity(std::string_view text, Unit unit);

}  // namespace hespas
