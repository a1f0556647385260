// Links: driver
// Configuration files of `hespas run` and of the prototype's commands: any text is read or refused, with a reason.
#include "driver/configuration/run_configuration.h"
#include "input_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const hespas::fuzz::InputFile file(data, size);
  hespas::Diagnostics diagnostics;
  const auto configuration = hespas::driver::ReadRunConfiguration(file.path(), diagnostics);
  if (configuration.has_value() == diagnostics.has_errors()) __builtin_trap();
  for (const hespas::Diagnostic& d : diagnostics.all()) hespas::Render(d);
  return 0;
}
