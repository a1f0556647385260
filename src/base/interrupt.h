// Stopping long work early: the caller says how to ask, stages ask now and then.
//
// - An InterruptScope holds for the thread that made it, until it goes; without one nothing is ever interrupted.
// - Interrupted() is cheap enough for inner loops (it asks at most every 50 ms) and stays true once it was.
// - A stage that stops early returns kInterrupted.
#pragma once

#include <chrono>
#include <functional>

#include "base/result.h"

namespace hespas {

inline constexpr DiagnosticKind kInterrupted{
    "E0007", "The caller asked the work to stop (for example Ctrl-C in Python); nothing was written.",
    Outcome::kCannotRun};

class InterruptScope {
 public:
  explicit InterruptScope(std::function<bool()> asked);
  InterruptScope(const InterruptScope&) = delete;
  InterruptScope& operator=(const InterruptScope&) = delete;
  ~InterruptScope();

  bool Ask();

 private:
  std::function<bool()> asked_;
  InterruptScope* outer_;
  bool interrupted_ = false;
  std::chrono::steady_clock::time_point next_;
};

bool Interrupted();

inline Error InterruptedError() { return MakeError(kInterrupted, "stopped as the caller asked"); }

}  // namespace hespas
