// Bytes of an element of number formats whose blocks of elements share a scale.
#pragma once

namespace hespas {

inline constexpr double kNvFp4Bytes = 0.5 + 1.0 / 16;  // 4 bits, and a byte for 16 elements
inline constexpr double kMxFp4Bytes = 0.5 + 1.0 / 32;  // 4 bits, and a byte for 32 (OCP Microscaling Formats 1.0)

}  // namespace hespas
