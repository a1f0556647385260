// hespas_mlir_analyzer: the prototype's command of that name.
#include "cli/drop_in.h"
#include "driver/compat/analyzer.h"

int main(int argc, char** argv) {
  hespas::cli::DropIn options;
  hespas::driver::compat::AnalyzerOptions analyzer;
  CLI::App app("Counts the operations of a StableHLO program.", "hespas_mlir_analyzer");
  app.add_option("mlir_file", analyzer.program, "program")->required();
  hespas::cli::AddDropInOptions(app, options);
  app.add_flag("-s,--input_sensitive", analyzer.operand_types, "count each combination of operand types on its own");
  app.add_option("-f,--format", analyzer.format, "text or csv");
  app.add_flag("-e,--expand", analyzer.expand, "count what calls and fusions hold instead of the calls and fusions");
  return hespas::cli::RunDropIn(app, argc, argv, options, [&](auto& parsed, const auto& log, auto& diagnostics) {
    analyzer.compat = parsed.compat;
    auto text = hespas::driver::compat::AnalyzeProgram(analyzer, log, diagnostics);
    if (!text) return hespas::Status(text.error());
    std::fputs(text->c_str(), stdout);
    return hespas::Status();
  });
}
