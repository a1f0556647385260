// `hespas anonymise PROGRAM`: a program that can be shown with a bug report.
#include "transform/anonymise.h"

#include <memory>

#include "base/system/file.h"
#include "cli/command.h"
#include "driver/pipeline/run.h"

namespace hespas::cli {

void AddAnonymiseCommand(CLI::App& app, Console& console) {
  CLI::App& command =
      AddCommand(app, console, "anonymise", "strips names, locations and constants from a program, for bug reports",
                 "hespas anonymise program.mlir > report.mlir");
  struct Options {
    std::string program;
    std::string output;
  };
  auto options = std::make_shared<Options>();
  command.add_option("PROGRAM", options->program, "program of any form; - is stdin")->required();
  command.add_option("--output", options->output, "file to write in place of stdout");
  command.callback([options, &console] {
    auto module = driver::ReadModule(options->program, nullptr, console.diagnostics);
    console.PrintDiagnostics();
    if (!module) return;
    const std::string text = transform::Anonymise(std::move(*module));
    if (options->output.empty()) return Print(text);
    if (const Status status = WriteFileAtomically(options->output, text); !status) console.Fail(status.error());
  });
}

}  // namespace hespas::cli
