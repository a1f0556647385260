// `hespas doctor`: tools, versions, and why an estimator is not available.
#include "driver/inspect/tables/doctor.h"

#include <memory>

#include "cli/format.h"

namespace hespas::cli {

void AddDoctorCommand(CLI::App& app, Console& console) {
  CLI::App& command =
      AddCommand(app, console, "doctor", "lists what this installation has and what it lacks", "hespas doctor");
  auto format = std::make_shared<Format>(Format::kTable);
  AddFormatOption(command, *format);
  command.callback([format] { Print(RenderTable(driver::Examine(), *format)); });
}

}  // namespace hespas::cli
