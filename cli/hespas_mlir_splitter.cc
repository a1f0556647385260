// hespas_mlir_splitter: the prototype's command of that name.
#include "cli/drop_in.h"
#include "driver/compat/chakra_gen.h"

int main(int argc, char** argv) {
  hespas::cli::DropIn options;
  CLI::App app("Splits a StableHLO program into blocks and writes each as a module.", "hespas_mlir_splitter");
  hespas::cli::AddConfiguration(app, options);
  hespas::cli::AddDropInOptions(app, options);
  app.add_option("--split_fn", options.command.split, "linear_split or individual_split")
      ->check(CLI::IsMember({"linear_split", "individual_split"}));
  app.add_option("--block_lim", options.command.block_limit, "ops in a block (linear_split)");
  hespas::cli::AddSeparatorOptions(app, options);
  app.add_flag("--print_meta", options.command.print_metadata, "list the blocks");
  return hespas::cli::RunDropIn(app, argc, argv, options, [](auto& parsed, const auto& log, auto& diagnostics) {
    return hespas::driver::compat::SplitProgram(parsed, log, diagnostics);
  });
}
