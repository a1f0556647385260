// hespas_chakra_gen: the prototype's command of that name.
#include "cli/drop_in.h"
#include "cli/pipeline_options.h"
#include "driver/compat/chakra_gen.h"

int main(int argc, char** argv) {
  hespas::cli::DropIn options;
  auto& command = options.command;
  CLI::App app("Turns a StableHLO program into Chakra execution traces, as a configuration file says.",
               "hespas_chakra_gen");
  hespas::cli::AddConfiguration(app, options);
  hespas::cli::AddDropInOptions(app, options);
  bool merge = false;
  bool no_merge = false;
  hespas::cli::AddDeviceOptions(app, options);
  app.add_option("--estimator", command.estimator, "model, instead of the configuration's `method`");
  app.add_flag_callback(
      "--clean", [&] { command.clean = true; }, "empty the output folder first");
  app.add_flag_callback(
      "--no-clean", [&] { command.clean = false; }, "do not, whatever the configuration says");
  app.add_option("--mlir_file", command.mlir_file, "program, instead of the configuration's");
  app.add_option("--num_npus", command.num_npus, "devices to write traces for");
  app.add_option("--split_fn", command.split, "linear_split or individual_split");
  app.add_option("--block_lim", command.block_limit, "ops in a block (linear_split)");
  hespas::cli::AddSeparatorOptions(app, options);
  app.add_flag("--merge", merge, "join blocks (individual_split)");
  app.add_flag("--no-merge", no_merge, "do not join blocks");
  app.add_option("--output", command.output, "output folder, instead of the configuration's");
  hespas::cli::AddTraceFileOptions(app, command.trace_files);
  app.add_option("--threads", command.threads, "accepted for compatibility; the output does not depend on it");
  return hespas::cli::RunDropIn(app, argc, argv, options, [&](auto& parsed, const auto& log, auto& diagnostics) {
    auto request = parsed;
    if (merge || no_merge) request.merge = merge && !no_merge;
    return hespas::driver::compat::GenerateTraces(request, log, diagnostics);
  });
}
