// The list of error codes that the build collected from the sources (data/errors.json).
#pragma once

#include <string>

#include "base/result.h"

namespace hespas::driver {

inline constexpr DiagnosticKind kUnknownErrorCode{"E0904", "`hespas explain` was asked for a code that does not exist.",
                                                  Outcome::kUsage};

struct ErrorCode {
  std::string explanation;
  int exit_status = 0;  // 0 for warnings
};

Result<ErrorCode> FindErrorCode(const std::string& code);

}  // namespace hespas::driver
