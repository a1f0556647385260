// `hespas print`: the program as it was read, in MLIR's generic form.
#include <memory>

#include "cli/command.h"
#include "driver/run.h"
#include "ir/printer.h"

namespace hespas::cli {

void AddPrintCommand(CLI::App& app, Session& session) {
  CLI::App& command = AddCommand(app, session, "print", "prints a program as it was read",
                                 "hespas print --generic examples/llama3-100m-4dev.mlir.gz");
  struct Options {
    std::string program;
    bool generic = false;
  };
  auto options = std::make_shared<Options>();
  command.add_option("PROGRAM", options->program, "program of any form; - is stdin")->required();
  command.add_flag("--generic", options->generic, "MLIR's generic form (the default)");
  command.callback([options, &session] {
    const auto module = driver::ReadModule(options->program, nullptr, session.diagnostics);
    session.PrintDiagnostics();
    if (module) Print(ir::PrintGeneric(*module));
  });
}

}  // namespace hespas::cli
