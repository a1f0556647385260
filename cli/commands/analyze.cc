// `hespas analyze`: how often each operation occurs, and beyond text output its work, collectives, constants, calls and
// loops.
#include <fmt/format.h>

#include <memory>

#include "base/text/json.h"
#include "cli/command.h"
#include "driver/inspect/profile.h"
#include "driver/pipeline/run.h"
#include "read/read.h"
#include "report/text/program/histogram.h"

namespace hespas::cli {
namespace {

struct AnalyzeCommand {
  std::string program;
  bool expand = false;
  bool all_regions = false;
  bool operand_types = false;
  std::string compat;
  std::string part;
  Format format = Format::kTable;
};

// What CSV and Markdown can show besides the counts; Markdown shows all of them.
struct Part {
  const char* name;
  const char* title;
  report::Table (*table)(const report::Profile&);
};
constexpr Part kParts[] = {{"work", "Work", report::WorkTable},
                           {"collectives", "Collectives", report::CollectiveTable},
                           {"constants", "Constants", report::ConstantTable},
                           {"calls", "Calls", report::CallTable},
                           {"loops", "Loops", report::LoopTable}};

std::string JsonText(const report::Histogram& histogram, const report::Profile& profile) {
  std::string text = report::ToJson(histogram);
  text.resize(text.rfind('}'));
  return text + ", " + report::ToJsonMembers(profile) + "}\n";
}

std::string MarkdownText(const report::Histogram& histogram, const report::Profile& profile) {
  std::string text = report::ToMarkdown(histogram);
  for (const Part& part : kParts) {
    const report::Table table = part.table(profile);
    if (!table.rows.empty()) text += fmt::format("\n## {}\n\n{}", part.title, report::ToMarkdown(table));
  }
  return text;
}

std::string HistogramText(const ir::Module& module, const report::Histogram& histogram, const AnalyzeCommand& options) {
  if (options.format == Format::kTable && options.part.empty()) return report::ToPrototypeText(histogram) + "\n";
  if (options.format == Format::kCsv && options.part.empty()) return report::ToCsv(histogram);
  const report::Profile profile = driver::ProfileOf(module);
  if (options.format == Format::kJson || options.format == Format::kJsonLines) return JsonText(histogram, profile);
  for (const Part& part : kParts) {
    if (options.part != part.name) continue;
    const report::Table table = part.table(profile);
    return options.format == Format::kTable ? report::ToText(table)
           : options.format == Format::kCsv ? report::ToCsv(table)
                                            : report::ToMarkdown(table);
  }
  return MarkdownText(histogram, profile);
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
  const report::Histogram histogram = report::CountOperators(
      *module, {.extent = extent, .operand_types = options.operand_types, .compatible = options.compat == "prototype"});
  Print(HistogramText(*module, histogram, options));
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
  command
      .add_option("--table", options->part,
                  "instead of the counts: work (flops and bytes by op), collectives, constants, calls or loops")
      ->check(OneOf({"work", "collectives", "constants", "calls", "loops"}));
  AddFormatOption(command, options->format);
  command.callback([options, &console] { Analyze(*options, console); });
}

}  // namespace hespas::cli
