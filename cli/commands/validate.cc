// `hespas validate`: the model's errors against published measurements.
#include <memory>

#include "base/system/file.h"
#include "cli/format.h"
#include "cli/progress.h"
#include "validate/accuracy_page.h"
#include "validate/sets/xla_twins.h"
#include "validate/validation.h"

namespace hespas::cli {
namespace {

struct ValidateCommand {
  validate::ValidateOptions validate;
  bool bounds = false;
  std::string html;
  std::string readme;
  std::string twins;  // folder
  std::vector<std::string> xla_flags;
  Format format = Format::kTable;
};

constexpr const char* kTwinSet = "xla-twins";

void CompareWithXla(const ValidateCommand& options, Console& console) {
  ProgressLine progress(console.quiet);
  const auto twins = validate::CompareTwins(
      {.folder = options.twins, .flags = options.xla_flags, .progress = &progress}, console.diagnostics);
  progress.Clear();
  console.PrintDiagnostics();
  if (!twins) return;
  if (options.bounds) return Print(RenderTable(validate::TwinSummary(*twins), options.format));
  Print(RenderTable(validate::TwinTable(*twins), options.format));
  if (options.format != Format::kTable) return;
  Print("\n" + RenderTable(validate::TwinSummary(*twins), options.format));
}

void RunValidate(const ValidateCommand& options, Console& console) {
  if (options.validate.set == kTwinSet) return CompareWithXla(options, console);
  validate::ValidateOptions validate = options.validate;
  validate.hold = options.bounds;
  ProgressLine progress(console.quiet);
  validate.progress = &progress;
  const auto validation = validate::Validate(validate, console.diagnostics);
  progress.Clear();
  console.PrintDiagnostics();
  if (!validation) return;
  const report::Table table = validate::AccuracyTable(validation->rows);
  Print(RenderTable(options.bounds ? validation->bounds : table, options.format));
  if (!options.html.empty()) {
    const Status written = WriteFileAtomically(options.html, validate::AccuracyPage(table, validation->bounds));
    if (!written) return console.Fail(written.error());
  }
  if (options.readme.empty()) return;
  const auto text = validate::WithAccuracy(options.readme, validation->modes);
  const Status written = text ? WriteFileAtomically(options.readme, *text) : Status(text.error());
  if (!written) console.Fail(written.error());
}

}  // namespace

void AddValidateCommand(CLI::App& app, Console& console) {
  CLI::App& command = AddCommand(app, console, "validate", "compares the model with published measurements",
                                 "hespas validate --set gemm --format md");
  auto options = std::make_shared<ValidateCommand>();
  command
      .add_option(
          "--set", options->validate.set,
          "one set only: gemm, kernels, collectives, multi-node, field, models, programs, step-times or serving; or "
          "xla-twins, where "
          "our optimiser "
          "meets XLA's own compiler; or published-training, step times that others published (its options: "
          "hespas validate --set published-training --help)")
      ->check(CLI::IsMember({"gemm", "kernels", "collectives", "multi-node", "field", "models", "programs",
                             "step-times", "serving", kTwinSet}));
  command.add_option("--twins", options->twins, "of xla-twins: another folder of NAME.mlir and NAME.DEVICE.hlo")
      ->check(CLI::ExistingDirectory);
  command.add_option("--xla-flag", options->xla_flags, "of xla-twins: a flag with which our optimiser works");
  command.add_flag("--loo", options->validate.held_out,
                   "also held-out errors: leave one device or size out, and calibrate on 24 kernels");
  command.add_flag("--bounds", options->bounds,
                   "print the bounds of the errors; an error above its bound ends with exit status 6 (of xla-twins: "
                   "only the summary)");
  command.add_option("--html", options->html, "also write a page with both tables");
  command.add_option("--readme", options->readme,
                     "also put the errors of all modes between the accuracy marks of this file");
  AddFormatOption(command, options->format);
  command.callback([options, &console] { RunValidate(*options, console); });
}

}  // namespace hespas::cli
