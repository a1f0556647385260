// The prototype's commands: `hespas` under another name (installed as links), so that one program holds them all.
#include <algorithm>
#include <iterator>

#include "cli/commands/stand_alone.h"
#include "cli/drop_in.h"
#include "cli/options/pipeline_options.h"
#include "driver/compat/analyzer.h"
#include "driver/compat/chakra_gen.h"

namespace hespas::cli {
namespace {

int ChakraGen(int argc, char** argv) {
  DropIn options;
  auto& command = options.command;
  CLI::App app("Turns a StableHLO program into Chakra execution traces, as a configuration file says.",
               "hespas_chakra_gen");
  AddConfiguration(app, options);
  AddDropInOptions(app, options);
  bool merge = false;
  bool no_merge = false;
  AddDeviceOptions(app, options);
  app.add_option("--estimator", command.estimator, "model, instead of the configuration's `method`");
  app.add_flag_callback(
      "--clean", [&] { command.clean = true; }, "empty the output folder first");
  app.add_flag_callback(
      "--no-clean", [&] { command.clean = false; }, "do not empty it, whatever the configuration says");
  app.add_option("--mlir_file", command.mlir_file, "program, instead of the configuration's");
  app.add_option("--num_npus", command.num_npus, "devices to write traces for");
  app.add_option("--split_fn", command.split, "linear_split or individual_split");
  app.add_option("--block_lim", command.block_limit, "ops in a block (linear_split)");
  AddSeparatorOptions(app, options);
  app.add_flag("--merge", merge, "merge blocks (individual_split)");
  app.add_flag("--no-merge", no_merge, "do not merge blocks");
  app.add_option("--output", command.output, "output folder, instead of the configuration's");
  AddTraceFileOptions(app, command.trace_files);
  app.add_option("--threads", command.threads, "accepted for compatibility; the output does not depend on it");
  return RunDropIn(app, argc, argv, options, [&](auto& parsed, const auto& log, auto& diagnostics) {
    auto request = parsed;
    if (merge || no_merge) request.merge = merge && !no_merge;
    return driver::compat::GenerateTraces(request, log, diagnostics);
  });
}

int MlirAnalyzer(int argc, char** argv) {
  DropIn options;
  driver::compat::AnalyzerOptions analyzer;
  CLI::App app("Counts the operations of a StableHLO program.", "hespas_mlir_analyzer");
  app.add_option("mlir_file", analyzer.program, "program")->required();
  AddDropInOptions(app, options);
  app.add_flag("-s,--input_sensitive", analyzer.operand_types, "count each combination of operand types on its own");
  app.add_option("-f,--format", analyzer.format, "text or csv");
  app.add_flag("-e,--expand", analyzer.expand, "count what calls and fusions hold instead of the calls and fusions");
  return RunDropIn(app, argc, argv, options, [&](auto& parsed, const auto& log, auto& diagnostics) {
    analyzer.compat = parsed.compat;
    auto text = driver::compat::AnalyzeProgram(analyzer, log, diagnostics);
    if (!text) return Status(text.error());
    std::fputs(text->c_str(), stdout);
    return Status();
  });
}

int MlirSplitter(int argc, char** argv) {
  DropIn options;
  CLI::App app("Splits a StableHLO program into blocks and writes each as a module.", "hespas_mlir_splitter");
  AddConfiguration(app, options);
  AddDropInOptions(app, options);
  app.add_option("--split_fn", options.command.split, "linear_split or individual_split")
      ->check(CLI::IsMember({"linear_split", "individual_split"}));
  app.add_option("--block_lim", options.command.block_limit, "ops in a block (linear_split)");
  AddSeparatorOptions(app, options);
  app.add_flag("--print_meta", options.command.print_metadata, "list the blocks");
  return RunDropIn(app, argc, argv, options, [](auto& parsed, const auto& log, auto& diagnostics) {
    return driver::compat::SplitProgram(parsed, log, diagnostics);
  });
}

constexpr std::string_view kStandAlone[] = {"calibrated", "cocossim", "genz",     "iree", "onnxim",     "pjrt",
                                            "roofline",   "scalesim", "systolic", "xla",  "zigzag_onnx"};

}  // namespace

std::optional<int> RunAsDropIn(std::string_view program, int argc, char** argv) {
  constexpr std::string_view kPrefix = "hespas_";
  constexpr std::string_view kEstimator = "_estimator";
  program.remove_prefix(std::min(program.size(), program.rfind('/') + 1));
  if (!program.starts_with(kPrefix)) return std::nullopt;
  program.remove_prefix(kPrefix.size());
  if (program == "chakra_gen") return ChakraGen(argc, argv);
  if (program == "mlir_analyzer") return MlirAnalyzer(argc, argv);
  if (program == "mlir_splitter") return MlirSplitter(argc, argv);
  if (!program.ends_with(kEstimator)) return std::nullopt;
  program.remove_suffix(kEstimator.size());
  if (std::find(std::begin(kStandAlone), std::end(kStandAlone), program) == std::end(kStandAlone)) return std::nullopt;
  return RunStandAlone(std::string(program), argc, argv);
}

}  // namespace hespas::cli
