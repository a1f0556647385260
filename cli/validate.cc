// `hespas validate`: the model's errors against published measurements.
#include <memory>

#include "cli/format.h"
#include "driver/validation.h"

namespace hespas::cli {

void AddValidateCommand(CLI::App& app, Console& console) {
  CLI::App& command = AddCommand(app, console, "validate", "compares the model with published measurements",
                                 "hespas validate --set gemm --format md");
  struct Options {
    driver::ValidateOptions validate;
    Format format = Format::kTable;
  };
  auto options = std::make_shared<Options>();
  command.add_option("--set", options->validate.set, "one set only: gemm, kernels, collectives or models")
      ->check(CLI::IsMember({"gemm", "kernels", "collectives", "models"}));
  command.add_flag("--loo", options->validate.left_out,
                   "also with constants that have not seen the device: zero-shot, and calibrated on 24 kernels");
  AddFormatOption(command, options->format);
  command.callback([options, &console] {
    const auto rows = driver::Validate(options->validate, console.diagnostics);
    console.PrintDiagnostics();
    if (rows) Print(RenderTable(driver::AccuracyTable(*rows), options->format));
  });
}

}  // namespace hespas::cli
