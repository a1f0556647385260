// Links: driver
// result.json, as `hespas compare` reads it back: any text is read or refused.
#include "driver/inspect/compare.h"
#include "input_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const hespas::fuzz::InputFile file(data, size);
  const auto is_result = hespas::driver::IsResult(file.path());
  if (!is_result) hespas::Render(is_result.error());
  const auto result = hespas::driver::ReadResult(file.path());
  if (!result) hespas::Render(result.error());
  return 0;
}
