#include "ir/facts/execution/async_start.h"

#include <string_view>

#include "ir/attributes/attribute.h"
#include "ir/op_kind.h"
#include "ir/walk.h"

namespace hespas::ir {

OpId CollectiveInside(const Module& module, OpId start) {
  OpId body = start;
  for (const std::string_view name : {"called_computation", "callee"}) {
    const std::string_view* text = module.attribute(start, name);
    if (text != nullptr) body = module.FindSymbol(AsSymbol(*text));
  }
  OpId found;
  if (!body.valid()) return found;
  WalkNested(module, body, [&](OpId inner) {
    if (!found.valid() && IsCollective(module.kind(inner))) found = inner;
  });
  return found;
}

}  // namespace hespas::ir
