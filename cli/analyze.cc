// `hespas analyze`: how often each operation occurs.
#include <memory>

#include "cli/command.h"
#include "driver/run.h"
#include "read/read.h"
#include "report/histogram.h"

namespace hespas::cli {
namespace {

struct AnalyzeCommand {
  std::string program;
  bool expand = false;
  bool all_regions = false;
  bool operand_types = false;
  std::string compat;
  Format format = Format::kTable;
};

std::string Render(const report::Histogram& histogram, Format format) {
  switch (format) {
    case Format::kJson:
    case Format::kJsonLines:
      return report::ToJson(histogram) + "\n";
    case Format::kCsv:
      return report::ToCsv(histogram);
    case Format::kMarkdown:
      return report::ToMarkdown(histogram);
    case Format::kTable:
      break;
  }
  return report::ToPrototypeText(histogram) + "\n";
}

void Analyze(const AnalyzeCommand& options, Console& console) {
  const auto module = driver::ReadModule(options.program, nullptr, console.diagnostics);
  const auto fail = [&] { console.PrintDiagnostics(); };
  if (!module) return fail();
  if (!options.all_regions) {
    if (const auto main = read::RequireMain(*module); !main) {
      console.diagnostics.Report(main.error());
      return fail();
    }
  }
  console.PrintDiagnostics();
  const auto extent = options.all_regions ? report::Extent::kAllRegions
                      : options.expand    ? report::Extent::kExpanded
                                          : report::Extent::kMain;
  Print(Render(report::CountOperators(*module, {.extent = extent,
                                                .operand_types = options.operand_types,
                                                .compatible = options.compat == "prototype"}),
               options.format));
}

}  // namespace

void AddAnalyzeCommand(CLI::App& app, Console& console) {
  CLI::App& command = AddCommand(app, console, "analyze", "counts the operations of a program",
                                 "hespas analyze -e examples/llama3-100m-4dev.mlir.gz");
  auto options = std::make_shared<AnalyzeCommand>();
  command.add_option("PROGRAM", options->program, "program of any form; - is stdin")->required();
  command.add_flag("-e,--expand", options->expand,
                   "count what calls and fusions hold instead of the calls and fusions");
  command.add_flag("--all-regions", options->all_regions, "count every operation of every region; needs no main");
  command.add_flag("-s,--sensitive", options->operand_types, "count each combination of operand types apart");
  command.add_option("--compat", options->compat, "`prototype`: with -s as the Python prototype prints it")
      ->check(OneOf({"prototype"}));
  AddFormatOption(command, options->format);
  command.callback([options, &console] { Analyze(*options, console); });
}

}  // namespace hespas::cli
