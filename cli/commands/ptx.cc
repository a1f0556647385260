// `hespas ptx`: what the kernels of a program do on a GPU, without a GPU.
#include "driver/inspect/ptx.h"

#include <memory>

#include "cli/format.h"
#include "cli/options/pipeline_options.h"

namespace hespas::cli {

void AddPtxCommand(CLI::App& app, Console& console) {
  CLI::App& command =
      AddCommand(app, console, "ptx", "counts and times the kernels of a program, or of PTX, on a GPU",
                 "hespas ptx tests/data/external/recorded/iree_matmul.ptx --grid 96 --device H100_80GB");
  struct Options {
    driver::RunOptions run;
    driver::PtxQuestion question;
    Format format = Format::kTable;
  };
  auto options = std::make_shared<Options>();
  command.add_option("INPUT", options->question.input, "a program that iree-compile compiles, or a .ptx file")
      ->required();
  command.add_option("--device", options->run.device.name, "device: a preset (`hespas devices`) or a file");
  command.add_option("--grid", options->question.grid, "of a .ptx file: blocks, X,Y,Z")->delimiter(',');
  command.add_option("--block", options->question.block, "of a .ptx file: threads of a block, X,Y,Z")->delimiter(',');
  command.add_option("--shared-memory", options->question.shared_bytes,
                     "of a .ptx file: bytes of buffers at the launch; by default as far as accesses reach");
  AddToolOptions(command, options->run.estimate.settings);
  AddFormatOption(command, options->format);
  command.callback([options, &console] {
    const auto table = driver::PtxTable(options->question, options->run, console.diagnostics);
    console.PrintDiagnostics();
    if (table) Print(RenderTable(*table, options->format));
  });
}

}  // namespace hespas::cli
