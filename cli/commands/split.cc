// `hespas split`: the blocks of a program and how they depend on each other.
#include <memory>

#include "base/system/file.h"
#include "cli/format.h"
#include "cli/options/pipeline_options.h"
#include "cli/progress.h"
#include "driver/inspect/block_programs.h"
#include "driver/stages/optimise.h"
#include "report/page/dependency_graph.h"
#include "report/text/program/blocks.h"

namespace hespas::cli {

void AddSplitCommand(CLI::App& app, Console& console) {
  CLI::App& command = AddCommand(app, console, "split", "cuts a program into compute and communication blocks",
                                 "hespas split examples/llama3-100m-4dev.mlir.gz --split linear");
  struct Options {
    driver::RunOptions run;
    std::string format = "table";
    std::string output;
  };
  auto options = std::make_shared<Options>();
  options->run.optimise.mode = driver::OptimiseMode::kNone;
  AddProgramOption(command, options->run);
  command.add_option("--device", options->run.device.name,
                     "accelerator whose passes --optimise runs, and whose bounds colour the graph");
  AddWordOption(command, "--optimise", options->run.optimise.mode,
                "what XLA would do first: none, auto, xla-gpu, xla-tpu, xla-cpu or xla");
  AddSplitOptions(command, options->run);
  command.add_option("--output", options->output,
                     "folder for the blocks as programs of their own, and blocks.json: how values pass between them");
  command
      .add_option(
          "--format", options->format,
          "what goes to stdout: table, json, jsonl, csv, md, or the dependency graph as dot or svg (drawn by Graphviz)")
      ->check(OneOf({"table", "json", "jsonl", "csv", "md", "dot", "svg"}));
  command.callback([options, &command, &console] {
    const bool fusion = options->run.split.strategy == driver::SplitStrategy::kFusion;
    if (fusion && command.count("--optimise") == 0) options->run.optimise.mode = driver::OptimiseMode::kFusionAlone;
    ProgressLine progress(console.quiet);
    options->run.progress = &progress;
    const auto prepared = driver::Prepare(options->run, console.diagnostics);
    const bool picture = options->format == "dot" || options->format == "svg";
    std::optional<driver::Estimated> estimated;
    if (prepared && picture) estimated = driver::EstimateBlocks(options->run, *prepared, console.diagnostics);
    progress.Clear();
    console.PrintDiagnostics();
    if (!prepared || (picture && !estimated)) return;
    if (!options->output.empty()) {
      Status written = MakeFolder(options->output);
      if (written) written = driver::WriteBlockPrograms(*prepared, options->output);
      if (!written) return console.Fail(written.error());
    }
    if (picture) {
      const auto nodes = report::DependencyGraph(prepared->blocks, &estimated->table);
      if (options->format == "dot") return Print(report::ToDot(nodes));
      const Result<std::string> drawn = report::ToSvg(nodes);
      return drawn ? Print(*drawn) : console.Fail(drawn.error());
    }
    Print(RenderTable(report::BlockTable(prepared->blocks), FormatByName(options->format)));
  });
}

}  // namespace hespas::cli
