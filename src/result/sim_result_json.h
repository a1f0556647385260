// A SimResult as JSON and back, without loss, between processes of one version; users' JSON: report/text/simulation.h.
#pragma once

#include <string>

#include "base/result.h"
#include "result/sim_result.h"

namespace hespas::result {

inline constexpr DiagnosticKind kBadSimResult{
    "E0964", "What a process that simulated wrote is not a result of this version.", Outcome::kToolFailed};

std::string EncodeSimResult(const SimResult& result);
Result<SimResult> DecodeSimResult(const std::string& text);

}  // namespace hespas::result
