#include "cli/options/limits.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <string>
#include <string_view>

#include "base/system/children.h"
#include "base/system/file.h"
#include "base/text/unit_text.h"
#include "cli/command.h"

namespace hespas::cli {
namespace {

// Between a signal and the end of the process only what is safe in a handler.
void LeaveNothingBehind() {
  KillChildren();
  RemoveTemporaryFiles();
}

extern "C" void OnSignal(int signal) {
  LeaveNothingBehind();
  _exit(128 + signal);
}

void EndWith(std::string_view text, Outcome outcome) {
  LeaveNothingBehind();
  if (write(STDERR_FILENO, text.data(), text.size()) < 0) _exit(static_cast<int>(Outcome::kInternal));
  _exit(static_cast<int>(outcome));
}

extern "C" void OnTimeout(int) {
  EndWith(
      "error[E0908]: the command took longer than --timeout allows\nhelp: raise --timeout, or use a smaller input\n",
      kTooLong.outcome);
}

extern "C" void OnLostPages(int) {
  EndWith("error[E0909]: a file became shorter while it was read\nhelp: try again when nothing writes to it\n",
          kFileShortened.outcome);
}

double Quantity(const std::string& text, Unit unit, const std::string& option) {
  const Result<double> value = ParseQuantity(text, unit);
  if (!value) throw CLI::ValidationError(option, value.error().message);
  if (!(*value > 0) || !std::isfinite(*value)) throw CLI::ValidationError(option, "must be above 0");
  return *value;
}

// Memory that the program writes to, threads' stacks included; files that are only read do not count.
void LimitMemory(double bytes) {
  rlimit limit = {};
  getrlimit(RLIMIT_DATA, &limit);
  limit.rlim_cur = std::min(limit.rlim_max, static_cast<rlim_t>(std::min(bytes, 1e18)));
  setrlimit(RLIMIT_DATA, &limit);
}

void LimitTime(double seconds) {
  std::signal(SIGALRM, OnTimeout);
  constexpr double kLongest = 1e8;  // three years: what the kernel's type surely holds
  const double capped = std::clamp(seconds, 1e-6, kLongest);
  itimerval timer = {};
  timer.it_value.tv_sec = static_cast<time_t>(capped);
  timer.it_value.tv_usec = static_cast<suseconds_t>((capped - std::floor(capped)) * 1e6);
  if (timer.it_value.tv_sec == 0 && timer.it_value.tv_usec == 0) timer.it_value.tv_usec = 1;
  setitimer(ITIMER_REAL, &timer, nullptr);
}

int PrintError(const DiagnosticKind& kind, const std::string& text) {
  fmt::print(stderr, "error[{}]: {}\n", kind.code, text);
  return static_cast<int>(kind.outcome);
}

}  // namespace

void AddLimitOptions(CLI::App& command) {
  command
      .add_option_function<std::string>(
          "--max-memory", [](const std::string& text) { LimitMemory(Quantity(text, Unit::kBytes, "--max-memory")); },
          "stop if the command needs more memory than this, for example 4GB")
      ->group(kCommonGroup);
  command
      .add_option_function<std::string>(
          "--timeout", [](const std::string& text) { LimitTime(Quantity(text, Unit::kSeconds, "--timeout")); },
          "stop after this time, for example 60s")
      ->group(kCommonGroup);
}

void EndCleanlyOnSignals() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) std::signal(signal, OnSignal);
  std::signal(SIGBUS, OnLostPages);
}

int ReportOutOfMemory() {
  const bool small = sizeof(void*) == 4;  // as in browsers
  return PrintError(
      kOutOfMemory,
      small ? "out of memory\nhelp: the engine has 4 GB here at most; the command takes what the machine has"
            : "out of memory\nhelp: raise --max-memory where it is given");
}
int ReportInternalError(const char* what) {
  return PrintError(kInternalError, fmt::format("internal error: {}", what));
}

}  // namespace hespas::cli
