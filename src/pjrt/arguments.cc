#include "pjrt/arguments.h"

#include <fmt/format.h>

#include <cstring>

namespace hespas::pjrt {
namespace {

// A value is `base` with random bits under `mask`, little endian; `type` as PJRT_Buffer_Type numbers it.
struct Element {
  std::string_view name;
  int type;
  size_t bytes;
  uint64_t base;
  uint64_t mask;
  size_t parts = 1;  // of a complex number
};

constexpr Element kElements[] = {
    {"i1", 1, 1, 1, 0},
    {"i8", 2, 1, 1, 0},
    {"i16", 3, 2, 1, 0},
    {"i32", 4, 4, 1, 0},
    {"i64", 5, 8, 1, 0},
    {"ui8", 6, 1, 1, 0},
    {"ui16", 7, 2, 1, 0},
    {"ui32", 8, 4, 1, 0},
    {"ui64", 9, 8, 1, 0},
    {"f16", 10, 2, 0x3800, 0x7FF},
    {"f32", 11, 4, 0x3F000000, 0xFFFFFF},
    {"f64", 12, 8, 0x3FE0000000000000, 0x1FFFFFFFFFFFFF},
    {"bf16", 13, 2, 0x3F00, 0xFF},
    {"complex<f32>", 14, 4, 0x3F000000, 0xFFFFFF, 2},
    {"complex<f64>", 15, 8, 0x3FE0000000000000, 0x1FFFFFFFFFFFFF, 2},
    {"f8E5M2", 16, 1, 0x38, 0x7},
    {"f8E4M3FN", 17, 1, 0x30, 0xF},
    {"f8E4M3B11FNUZ", 18, 1, 0x50, 0xF},
    {"f8E5M2FNUZ", 19, 1, 0x3C, 0x7},
    {"f8E4M3FNUZ", 20, 1, 0x38, 0xF},
};

}  // namespace

Result<HostArray> ValuesOf(const ArgumentType& type) {
  for (const Element& element : kElements) {
    if (element.name != type.element) continue;
    size_t count = element.parts;
    for (const int64_t extent : type.shape) count *= static_cast<size_t>(extent);
    HostArray array{.type = element.type, .shape = type.shape, .bytes = std::string(count * element.bytes, '\0')};
    uint64_t state = 0x9E3779B97F4A7C15;  // xorshift (Marsaglia 2003)
    for (size_t i = 0; i < count; ++i) {
      state ^= state << 13;
      state ^= state >> 7;
      state ^= state << 17;
      const uint64_t value = element.base + (state & element.mask);
      std::memcpy(array.bytes.data() + i * element.bytes, &value, element.bytes);
    }
    return array;
  }
  return MakeError(kNoValues, fmt::format("no values for arguments of type {}", type.element));
}

}  // namespace hespas::pjrt
