#include "base/system/children.h"

#include <signal.h>
#include <sys/wait.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <cstddef>

namespace hespas {
namespace {

// What a signal handler has to kill; a child more than these outlives us.
constexpr size_t kSlots = 1024;
std::array<std::atomic<pid_t>, kSlots> running;

void Swap(pid_t before, pid_t after) {
  for (auto& slot : running) {
    pid_t expected = before;
    if (slot.compare_exchange_strong(expected, after)) return;
  }
}

}  // namespace

void RememberChild(pid_t child) { Swap(0, child); }

void Reap(pid_t child, int* status) {
  Swap(child, 0);
  while (waitpid(child, status, 0) < 0 && errno == EINTR) {
  }
}

void KillChildren() {
  for (const auto& slot : running) {
    if (const pid_t child = slot.load(); child > 0) kill(-child, SIGKILL);
  }
}

}  // namespace hespas
