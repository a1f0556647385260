// Runs another program: to its end with a time limit, or as a worker that answers line by line.
//
// - The child leads a process group of its own; the whole group is killed when the time is over or the worker goes.
// - No shell is involved; descriptors of ours are closed in the child.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace hespas {

inline constexpr DiagnosticKind kCannotStart{
    "E0006",
    "An external program could not be started: it is missing, not executable, or the system is out of resources.",
    Outcome::kToolFailed};
inline constexpr DiagnosticKind kWorkerFailed{
    "E0008", "An external program that should answer line by line died, did not answer or wrote more than allowed.",
    Outcome::kToolFailed};

struct ProcessResult {
  int status = 0;  // exit status; 128 + signal where a signal ended it
  bool timed_out = false;
  std::string output;  // stdout and stderr together, at most 64 MiB of it

  // What ended it badly ("ended with status 3", "was killed by signal 8 (Floating point exception)", "took longer than
  // 60 s"); nothing where it ended well.
  std::optional<std::string> Failure(std::chrono::milliseconds limit) const;
};

using Environment = std::vector<std::pair<std::string, std::string>>;  // set on top of ours

// `arguments[0]` is the program's path, or a name to look for in PATH. The child gets `folder` as working directory
// (empty: ours) and an empty stdin. When the time is over the child's process group is killed.
Result<ProcessResult> RunProcess(const std::vector<std::string>& arguments, const std::string& folder,
                                 std::chrono::milliseconds limit, const Environment& environment = {});

// A program that reads one line and answers with one line; its stderr goes where ours does not: nowhere.
class Worker {
 public:
  static Result<Worker> Start(const std::vector<std::string>& arguments, const Environment& environment = {});
  Worker(Worker&& other) noexcept;
  Worker& operator=(Worker&& other) noexcept;
  ~Worker();

  // The next line it writes, without its end; an error when it dies, stays silent or writes more than 16 MiB.
  Result<std::string> ReadLine(std::chrono::milliseconds limit);
  Status WriteLine(std::string_view line);

 private:
  Worker(int child, int input, int output) : child_(child), input_(input), output_(output) {}
  void Stop();
  std::string HowItEnded();  // behind what it told, where it ended badly

  int child_ = -1;
  int input_ = -1;   // we write
  int output_ = -1;  // we read
  std::string pending_;
};

// `words` as main() and exec take them, with a null pointer behind the last; valid as long as `words` is.
std::vector<char*> ArgumentPointers(const std::vector<std::string>& words);

// The first of `names` that is an executable file in PATH; empty if there is none.
std::string FindProgram(const std::vector<std::string>& names);

// This program's file; also where /proc is not mounted, as in a bare chroot. Empty if it cannot be told.
std::filesystem::path ExecutablePath();

}  // namespace hespas
