// Which elements are integers.
#pragma once

#include "ir/type.h"

namespace hespas::ir {

// Of any width and signedness, truth values and `index` among them.
inline bool IsInteger(const Element& element) {
  return element.kind == ElementKind::kInteger || element.kind == ElementKind::kSigned ||
         element.kind == ElementKind::kUnsigned || element.kind == ElementKind::kIndex;
}

}  // namespace hespas::ir
