// Links: read
// HLO text.
#include "program.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  return hespas::fuzz::ReadAnyProgram(data, size);
}
