#include "ir/scheduled.h"

#include "ir/attribute.h"

namespace hespas::ir {

bool IsScheduled(const Module& module) {
  const std::string_view* text = module.attribute(module.root(), "is_scheduled");
  if (text == nullptr) text = module.attribute(module.root(), "mhlo.is_scheduled");
  return text != nullptr && AsBool(*text).value_or(false);
}

}  // namespace hespas::ir
