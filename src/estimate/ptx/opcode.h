// What the name of a PTX instruction says: "ld.global.nc.v4.b32" moves 16 bytes a thread from global memory.
#pragma once

#include <string_view>

#include "estimate/ptx/kernel.h"

namespace hespas::estimate::ptx {

// Everything but operands and guard. `operands`: how many registers the first operand lists (of vectors and fragments).
Instruction Decode(std::string_view opcode);

}  // namespace hespas::estimate::ptx
