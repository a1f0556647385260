// Links: read
// Chakra execution traces: any bytes are read or refused.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "read/chakra/chakra.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  for (const bool in_graph : {false, true}) {
    const auto program = hespas::read::chakra::ReadProgram(bytes, "trace.et", in_graph);
    if (!program) hespas::Render(program.error());
  }
  return 0;
}
