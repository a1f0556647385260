// `hespas explain PROGRAM [WHAT]`: the answers behind the figures of a run.
#pragma once

#include <string>
#include <variant>

#include "driver/pipeline/pipeline.h"
#include "report/text/explain.h"

namespace hespas::driver {

inline constexpr DiagnosticKind kNothingToExplain{
    "E0971",
    "`hespas explain PROGRAM WHAT` takes the number of a block, the name of an operation (stablehlo.dot_general) or "
    "collective of the program as it is estimated, or nothing for the whole step. `hespas split` lists blocks.",
    Outcome::kUsage};

// `what`: "12" or "block 12", "dot_general", "all_gather", "collective 3". Names represent their costliest block.
Result<report::Explanation> Explain(const Finished& run, const RunOptions& options, const std::string& what);

}  // namespace hespas::driver
