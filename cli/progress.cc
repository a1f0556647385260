#include "cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <limits>

namespace hespas::cli {
namespace {

constexpr double kSilentSeconds = 1;
constexpr double kTerminalSeconds = 0.1;  // between two lines
constexpr double kPlainSeconds = 5;

double Seconds(std::chrono::steady_clock::duration time) { return std::chrono::duration<double>(time).count(); }

}  // namespace

ProgressLine::ProgressLine(bool quiet) : quiet_(quiet), terminal_(isatty(STDERR_FILENO) != 0) {}

void ProgressLine::Begin(std::string_view what, size_t total) {
  Clear();
  what_ = what;
  total_ = total;
  began_ = last_ = Clock::now();
  most_seconds_ = std::numeric_limits<double>::infinity();
}

void ProgressLine::EndsWithin(double seconds) { most_seconds_ = Seconds(Clock::now() - began_) + seconds; }

void ProgressLine::Done(size_t items) {
  if (quiet_ || items == 0) return;
  const Clock::time_point now = Clock::now();
  const double elapsed = Seconds(now - began_);
  if (elapsed < kSilentSeconds || Seconds(now - last_) < (terminal_ ? kTerminalSeconds : kPlainSeconds)) return;
  last_ = now;
  const double rate = static_cast<double>(items) / elapsed;
  const double needed = static_cast<double>(total_ - std::min(items, total_)) / rate;
  const double left = std::min(needed, std::max(0.0, most_seconds_ - elapsed));
  fmt::print(stderr, "{}{} {}/{}, {:.3g}/s, {:.0f} s left{}", terminal_ ? "\r\033[K" : "", what_, items, total_, rate,
             left, terminal_ ? "" : "\n");
  std::fflush(stderr);
  shown_ = terminal_;
}

void ProgressLine::Clear() {
  if (shown_) fmt::print(stderr, "\r\033[K");
  shown_ = false;
}

}  // namespace hespas::cli
