// Links: hardware
// ASTRA-sim's network.yml beside a fixed system.json: any text is read or refused.
#include <string_view>

#include "hardware/system.h"
#include "input_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  constexpr std::string_view kSystem = R"({"scheduling-policy": "LIFO", "all-reduce-implementation": ["ring"]})";
  const hespas::fuzz::InputFile system(reinterpret_cast<const uint8_t*>(kSystem.data()), kSystem.size());
  const hespas::fuzz::InputFile network(data, size);
  hespas::Diagnostics diagnostics;
  const auto read = hespas::hardware::LoadSystem({.system = system.path(), .network = network.path()}, {}, diagnostics);
  if (!read) hespas::Render(read.error());
  if (read && read->npus() == 0) __builtin_trap();
  return 0;
}
