// The compiled program in a folder that XLA wrote with --xla_dump_to.
#pragma once

#include <string>

#include "base/result.h"

namespace hespas::driver {

inline constexpr DiagnosticKind kNoDump{
    "E0995",
    "A folder for --xla-dump holds what XLA writes with XLA_FLAGS=--xla_dump_to=FOLDER: at least one "
    "*after_optimizations.txt. Run the program once with that flag."};

// The largest module after optimisation: a step, not the small programs that JAX compiles on its way.
Result<std::string> CompiledProgramIn(const std::string& folder);

}  // namespace hespas::driver
