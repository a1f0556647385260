// Links: hardware
// System files ({network, system, remote_memory} as JSON): any text is read or refused.
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>

#include "hardware/system.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const int fd = memfd_create("system.json", 0);
  if (fd < 0 || write(fd, data, size) != static_cast<ssize_t>(size)) __builtin_trap();
  lseek(fd, 0, SEEK_SET);
  hespas::Diagnostics diagnostics;
  const auto system = hespas::hardware::LoadSystem(fmt::format("/proc/self/fd/{}", fd), {}, diagnostics);
  if (!system) hespas::Render(system.error());
  if (system && system->npus() == 0) __builtin_trap();
  close(fd);
  return 0;
}
