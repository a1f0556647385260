// Links: hardware
// System files ({network, system, remote_memory} as JSON): any text is read or refused.
#include "hardware/system.h"
#include "input_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const hespas::fuzz::InputFile file(data, size);
  hespas::Diagnostics diagnostics;
  const auto system = hespas::hardware::LoadSystem(file.path(), {}, diagnostics);
  if (!system) hespas::Render(system.error());
  if (system && system->npus() == 0) __builtin_trap();
  return 0;
}
