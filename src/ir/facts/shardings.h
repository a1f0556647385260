// Whether a program's shardings are annotations that a partitioner has yet to apply.
//
// - So it is where a program for several partitions says how values are sharded (Shardy, GSPMD) and exchanges nothing.
#pragma once

#include "ir/module.h"

namespace hespas::ir {

bool AwaitsPartitioner(const Module& module);

}  // namespace hespas::ir
