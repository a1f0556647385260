// hespas_chakra_gen: a configuration file in; traces, statistics and the prototype's log out.
#pragma once

#include "base/result.h"
#include "driver/compat/configuration.h"
#include "driver/compat/log.h"

namespace hespas::driver::compat {

// Warnings go to `diagnostics` (under --compat into the log, as the prototype words them).
Status GenerateTraces(const CommandLine& command, const Log& log, Diagnostics& diagnostics);

// hespas_mlir_splitter: the blocks and their files, without estimates.
Status SplitProgram(const CommandLine& command, const Log& log, Diagnostics& diagnostics);

}  // namespace hespas::driver::compat
