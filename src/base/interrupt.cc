#include "base/interrupt.h"

#include <utility>

namespace hespas {
namespace {

constexpr std::chrono::milliseconds kPause(50);
thread_local InterruptScope* innermost = nullptr;

}  // namespace

InterruptScope::InterruptScope(std::function<bool()> asked)
    : asked_(std::move(asked)),
      outer_(std::exchange(innermost, this)),
      next_(std::chrono::steady_clock::now() + kPause) {}

InterruptScope::~InterruptScope() { innermost = outer_; }

bool InterruptScope::Ask() {
  if (interrupted_) return true;
  const auto now = std::chrono::steady_clock::now();
  if (now < next_) return false;
  interrupted_ = asked_();
  next_ = std::chrono::steady_clock::now() + kPause;
  return interrupted_;
}

bool Interrupted() { return innermost != nullptr && innermost->Ask(); }

}  // namespace hespas
