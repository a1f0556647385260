// What an asynchronous start runs.
#pragma once

#include "ir/module.h"

namespace hespas::ir {

// The collective that `start` runs, in its own region or in the function it calls; invalid where it runs none.
OpId CollectiveInside(const Module& module, OpId start);

}  // namespace hespas::ir
