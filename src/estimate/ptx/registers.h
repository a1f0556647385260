// How many 32-bit registers a thread of a kernel needs: the most that are live at once.
#pragma once

#include "estimate/ptx/kernel.h"

namespace hespas::estimate::ptx {

// PTX gives each value a name of its own; the assembler shares registers among values that do not live together. A few
// more than live values are needed for addresses, so this is a lower bound.
int LiveRegisters(const Kernel& kernel);

}  // namespace hespas::estimate::ptx
