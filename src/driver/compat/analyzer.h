// hespas_mlir_analyzer: the operator histogram in the prototype's layout.
#pragma once

#include <string>

#include "base/result.h"
#include "driver/compat/log.h"

namespace hespas::driver::compat {

inline constexpr DiagnosticKind kUnknownFormat{"E0917", "The histogram has two formats: text and csv.",
                                               Outcome::kUsage};

struct AnalyzerOptions {
  std::string program;
  std::string format = "text";
  bool expand = false;
  bool operand_types = false;
  bool compat = false;
};

Result<std::string> AnalyzeProgram(const AnalyzerOptions& options, const Log& log, Diagnostics& diagnostics);

}  // namespace hespas::driver::compat
