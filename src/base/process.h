// Runs another program and waits for it, with a time limit.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "base/result.h"

namespace hespas {

inline constexpr DiagnosticKind kCannotStart{
    "E0006",
    "An external program could not be started: it is missing, not executable, or the system is out of resources.",
    Outcome::kToolFailed};

struct ProcessResult {
  int status = 0;  // exit status; 128 + signal where a signal ended it
  bool timed_out = false;
  std::string output;  // stdout and stderr together, at most 64 MiB of it
};

// `arguments[0]` is the program's path, or a name to look for in PATH. The child gets `folder` as working directory
// (empty: ours) and an empty stdin. When the time is over the child's process group is killed.
Result<ProcessResult> RunProcess(const std::vector<std::string>& arguments, const std::string& folder,
                                 std::chrono::milliseconds limit);

// The first of `names` that is an executable file in PATH; empty if there is none.
std::string FindProgram(const std::vector<std::string>& names);

}  // namespace hespas
