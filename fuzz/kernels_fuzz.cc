// Links: validate
// Tables of kernels and of collectives (CSV): each is costed row by row, or refused with a reason.
#include "input_file.h"
#include "validate/kernel_tables.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const hespas::fuzz::InputFile file(data, size);
  hespas::Diagnostics diagnostics;
  const auto table = hespas::validate::EstimateKernelTable(file.path(), "A100_SXM_40GB", {}, diagnostics);
  if (table.has_value() == diagnostics.has_errors()) __builtin_trap();
  hespas::Diagnostics of_collectives;
  hespas::validate::EstimateCollectiveTable(file.path(), "A100_SXM_40GB_4GPU", {}, of_collectives);
  for (const hespas::Diagnostic& d : diagnostics.all()) hespas::Render(d);
  return 0;
}
