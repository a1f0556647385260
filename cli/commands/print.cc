// `hespas print`: the program as it was read, in MLIR's generic form.
#include <memory>

#include "cli/command.h"
#include "driver/pipeline/run.h"
#include "driver/stages/optimise.h"
#include "hardware/presets.h"
#include "ir/printer.h"

namespace hespas::cli {
namespace {

std::optional<ir::Module> After(ir::Module module, const std::string& pass, const std::string& device,
                                Console& console) {
  const auto target = hardware::LoadDevice(device, console.diagnostics);
  if (!target) return std::nullopt;
  return driver::OptimiseModule(module, {.stop_after = pass}, *target, console.diagnostics);
}

}  // namespace

void AddPrintCommand(CLI::App& app, Console& console) {
  CLI::App& command = AddCommand(app, console, "print", "prints a program as it was read",
                                 "hespas print --generic examples/llama3-100m-4dev.mlir.gz");
  struct Options {
    std::string program;
    bool generic = false;
    std::string after;
    std::string device = driver::DeviceOptions().name;
  };
  auto options = std::make_shared<Options>();
  command.add_option("PROGRAM", options->program, "program of any form; - is stdin")->required();
  command.add_flag("--generic", options->generic, "MLIR's generic form (the default)");
  command.add_option("--after", options->after, "optimise first, up to and including this pass");
  command.add_option("--device", options->device, "accelerator whose costs decide on fusion, with --after");
  command.callback([options, &console] {
    auto module = driver::ReadModule(options->program, nullptr, console.diagnostics);
    if (module && !options->after.empty()) module = After(std::move(*module), options->after, options->device, console);
    console.PrintDiagnostics();
    if (module) Print(ir::PrintGeneric(*module));
  });
}

}  // namespace hespas::cli
