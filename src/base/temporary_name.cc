#include "base/temporary_name.h"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>

#include "base/file.h"

namespace hespas {
namespace {

constexpr size_t kSlots = 64;
std::array<std::atomic<const char*>, kSlots> temporaries;

// With all that it holds, by a program: what walks folders here is not safe in a signal handler.
void RemoveFolder(const char* name) {
  const pid_t child = fork();
  if (child == 0) {
    execl("/bin/rm", "rm", "-rf", "--", name, nullptr);
    _exit(1);
  }
  if (child > 0) waitpid(child, nullptr, 0);
}

}  // namespace

TemporaryName::TemporaryName(const char* name) {
  for (auto& slot : temporaries) {
    const char* empty = nullptr;
    if (!slot.compare_exchange_strong(empty, name)) continue;
    slot_ = &slot;
    return;
  }
}

TemporaryName::~TemporaryName() {
  if (slot_ != nullptr) slot_->store(nullptr);
}

void RemoveTemporaryFiles() {
  for (const auto& slot : temporaries) {
    const char* name = slot.load();
    if (name != nullptr && unlink(name) != 0 && errno == EISDIR) RemoveFolder(name);
  }
}

}  // namespace hespas
