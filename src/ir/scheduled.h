// Whether a compiler has put the module's ops into the order in which they run (HLO text with `is_scheduled=true`).
#pragma once

#include "ir/module.h"

namespace hespas::ir {

bool IsScheduled(const Module& module);

}  // namespace hespas::ir
