// Prints modules.
//
// The generic form is MLIR's own, byte for byte where every attribute is one that Canonical knows; it reads back to the
// same module. Lines of files are omitted.
#pragma once

#include <string>

#include "ir/module.h"

namespace hespas::ir {

struct PrintOptions {
  bool locations = false;  // `loc("NAME")` behind each op that the framework has a name for
};

std::string PrintGeneric(const Module& module, const PrintOptions& options = {});
// One op with its regions.
std::string PrintGeneric(const Module& module, OpId op, const PrintOptions& options = {});

}  // namespace hespas::ir
