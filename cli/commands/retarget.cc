// `hespas retarget`: the same program on another number of devices.
#include <memory>

#include "cli/command.h"
#include "driver/pipeline/run.h"
#include "ir/printer.h"

namespace hespas::cli {

void AddRetargetCommand(CLI::App& app, Console& console) {
  CLI::App& command = AddCommand(app, console, "retarget",
                                 "prints a program for another number of devices (data parallel or FSDP axis)",
                                 "hespas retarget examples/llama3-100m-4dev.mlir.gz --devices 8");
  struct Options {
    std::string program;
    driver::Assumptions assumptions;
  };
  auto options = std::make_shared<Options>();
  command.add_option("PROGRAM", options->program, "program of any form; - is stdin")->required();
  command.add_option("--devices", options->assumptions.devices, "number of devices to convert it to")
      ->required()
      ->check(Positive());
  command.callback([options, &console] {
    auto module = driver::ReadModule(options->program, nullptr, console.diagnostics);
    const Status done = module ? driver::Apply(options->assumptions, *module, console.diagnostics) : Status();
    if (!done) console.diagnostics.Report(done.error());
    console.PrintDiagnostics();
    if (module && done) Print(ir::PrintGeneric(*module, {.locations = true}));
  });
}

}  // namespace hespas::cli
