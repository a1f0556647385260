#include "validate/sets/program_steps.h"

#include <fmt/format.h>

#include "driver/pipeline/run.h"
#include "hardware/presets.h"
#include "validate/measured_tables.h"

namespace hespas::validate {

bool AddProgramSteps(Groups& groups, const std::string& mode, Diagnostics& diagnostics) {
  const auto table = LoadMeasured("program_steps.csv", diagnostics);
  const auto folder = hardware::DataFolder();
  if (!table || !folder) return false;
  for (size_t row = 0; row < table->rows.size(); ++row) {
    const std::string device = CellText(*table, row, "device");
    const auto program = *folder / "programs" / fmt::format("{}.mlir.zst", CellText(*table, row, "program"));
    const auto result = driver::Run({.program = {.path = program.string()}, .device = {.name = device}}, diagnostics);
    if (!result) return false;
    groups[{kProgramSet, mode, device, CellText(*table, row, "kind")}].push_back(
        {.measured = CellNumber(*table, row, "step_us"),
         .predicted = 1e6 * result->step_time.seconds(),
         .sigma = result->step_time_sigma ? 1e6 * result->step_time_sigma->seconds() : 0});
  }
  return !diagnostics.has_errors();
}

}  // namespace hespas::validate
