// Types of values. Interned in a TypeTable: equal types have equal TypeIds.
//
// - Unknown dialect types are kept verbatim (kOpaque, `text`).
// - A dynamic dimension is kDynamic; a scalable vector dimension keeps only its size.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"
#include "ir/ids.h"

namespace hespas::ir {

inline constexpr int64_t kDynamic = std::numeric_limits<int64_t>::min();

// clang-format off
enum class ElementKind : uint8_t {
  kNone, kInteger, kSigned, kUnsigned,  // iN, siN, uiN
  kF64, kF32, kF16, kBF16, kTF32, kF80, kF128,
  kF8E3M4, kF8E4M3, kF8E4M3FN, kF8E4M3FNUZ, kF8E4M3B11FNUZ, kF8E5M2, kF8E5M2FNUZ, kF8E8M0FNU,
  kF4E2M1FN, kF6E2M3FN, kF6E3M2FN,
  kIndex, kQuantised, kOpaque,          // the last two keep their text
};
// clang-format on

struct Element {
  ElementKind kind = ElementKind::kNone;
  bool complex = false;  // complex<kind>
  uint16_t bits = 0;     // width of one component; storage width for quantised types
  std::string text;      // verbatim, for kQuantised and kOpaque
  bool operator==(const Element&) const = default;
};

// clang-format off
enum class TypeKind : uint8_t {
  kTensor, kUnrankedTensor, kVector, kMemref,  // element, dims
  kScalar,                                     // a bare element type: f32, i64, index, complex<f32>
  kTuple, kFunction, kAsyncBundle, kFuture,    // nested
  kToken, kNone, kOpaque,                      // the last keeps its text
};
// clang-format on

struct Type {
  TypeKind kind = TypeKind::kNone;
  Element element;
  std::vector<int64_t> dims;
  std::vector<TypeId> nested;  // tuple members; inputs, then results of a function type
  uint32_t input_count = 0;    // kFunction: how many of `nested` are inputs
  std::string encoding;        // tensor encoding attribute or memref layout, verbatim
  std::string text;            // kOpaque and kToken: verbatim, with `!`
  bool operator==(const Type&) const = default;

  bool is_tensor() const { return kind == TypeKind::kTensor; }
  bool has_static_shape() const;
  // Product of the dimensions, 1 for scalars, saturating; dynamic dimensions count as 1.
  int64_t element_count() const {
    int64_t count = 1;
    for (const int64_t d : dims) {
      if (d != kDynamic) count = internal::SaturatingMultiply(count, d);
    }
    return count;
  }
};

// Storage bits of one element (both components of a complex), e.g. 1 for i1.
int64_t ElementBits(const Element& element);

// Bytes of one value of `type` on a real device: i1 and sub-byte elements that are not packed take a byte (i4 and f4
// two to a byte); tuples sum their members; tokens and opaque types take 0. Saturating.
class TypeTable;
int64_t ByteSize(const TypeTable& types, TypeId type);

// MLIR's spelling of an element type: "bf16", "ui8", "complex<f32>", "i1".
std::string ElementText(const Element& element);
// The other way, without quantised and opaque types.
std::optional<Element> ElementFromText(std::string_view text);

}  // namespace hespas::ir
