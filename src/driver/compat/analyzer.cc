#include "driver/compat/analyzer.h"

#include <fmt/format.h>

#include "base/text/lower.h"
#include "read/read.h"
#include "report/text/program/histogram.h"

namespace hespas::driver::compat {

Result<std::string> AnalyzeProgram(const AnalyzerOptions& options, const Log& log, Diagnostics& diagnostics) {
  const std::string format = Lower(options.format);
  if (format != "text" && format != "csv") {
    return MakeError(kUnknownFormat, fmt::format("unknown format `{}`", options.format), {}, "use `text` or `csv`");
  }
  log.Info(fmt::format("MLIRAnalyzer: Parsing mlir_file: {}", options.program));
  const auto module = read::ReadProgram(options.program, {}, diagnostics);
  if (!module) return module.error();
  if (const auto main = read::RequireMain(*module); !main) return main.error();
  const report::Histogram histogram =
      report::CountOperators(*module, {.extent = options.expand ? report::Extent::kExpanded : report::Extent::kMain,
                                       .operand_types = options.operand_types,
                                       .compatible = options.compat});
  if (format == "csv" && !options.compat) return report::ToCsv(histogram);
  return report::ToPrototypeText(histogram, format == "csv");
}

}  // namespace hespas::driver::compat
