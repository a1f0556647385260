// Links: hardware
// Device files: any text is read or refused, and what is read has usable figures.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "hardware/device.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  hespas::Diagnostics diagnostics;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto device = hespas::hardware::ReadDevice(text, "device.json", diagnostics);
  if (device.has_value() == diagnostics.has_errors()) __builtin_trap();
  if (device && !(device->peak_flops.value > 0 && device->memory_bandwidth.value > 0)) __builtin_trap();
  for (const hespas::Diagnostic& d : diagnostics.all()) hespas::Render(d);
  return 0;
}
