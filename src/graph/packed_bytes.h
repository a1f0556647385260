// Bytes of a value as the Python prototype counts them: elements packed to bits, at least one byte.
#pragma once

#include <algorithm>

#include "base/units.h"
#include "ir/type_table.h"

namespace hespas::graph {

inline int64_t PackedBytes(const ir::TypeTable& types, ir::TypeId id) {
  const ir::Type& type = types[id];
  int64_t bytes = 0;
  if (type.kind == ir::TypeKind::kTuple || type.kind == ir::TypeKind::kAsyncBundle) {
    for (const ir::TypeId member : type.nested) bytes = internal::SaturatingAdd(bytes, PackedBytes(types, member));
    return bytes;
  }
  if (type.element.kind == ir::ElementKind::kNone) return 0;
  const int64_t bits = internal::SaturatingMultiply(type.element_count(), ir::ElementBits(type.element));
  return std::max<int64_t>(1, bits % 8 == 0 ? bits / 8 : bits / 8 + 1);
}

}  // namespace hespas::graph
