// Work in a copy of this process, for libraries that abort on bad input or can be started only once.
#pragma once

#include <functional>
#include <string>

#include "base/result.h"

namespace hespas {

// What `work` answers in a child process. Where the child dies instead, an error of `kind`: `what` and what the child
// printed. Nothing that `work` changes in memory comes back.
Result<std::string> RunForked(const DiagnosticKind& kind, const std::string& what,
                              const std::function<Result<std::string>()>& work);

}  // namespace hespas
