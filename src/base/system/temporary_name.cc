#include "base/system/temporary_name.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>

#include "base/system/file.h"

namespace hespas {
namespace {

constexpr size_t kSlots = 64;
std::array<std::atomic<const char*>, kSlots> temporaries;

// Removes what `folder` holds, by system calls alone, as a signal handler has to.
void Empty(int folder) {
  alignas(dirent64) char entries[2048];
  while (true) {
    const ssize_t size = getdents64(folder, reinterpret_cast<dirent64*>(entries), sizeof(entries));
    if (size <= 0) return;
    for (ssize_t at = 0; at < size;) {
      const auto* entry = reinterpret_cast<const dirent64*>(entries + at);
      at += entry->d_reclen;
      const char* name = entry->d_name;
      if (std::strcmp(name, ".") == 0 || std::strcmp(name, "..") == 0) continue;
      if (unlinkat(folder, name, 0) == 0 || errno != EISDIR) continue;
      const int inner = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
      if (inner < 0) continue;
      Empty(inner);
      close(inner);
      unlinkat(folder, name, AT_REMOVEDIR);
    }
  }
}

void RemoveFolder(const char* name) {
  const int folder = open(name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (folder < 0) return;
  Empty(folder);
  close(folder);
  rmdir(name);
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
