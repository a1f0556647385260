#include "driver/inspect/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <set>

#include "base/system/file.h"
#include "base/text/json.h"
#include "base/text/suggest.h"
#include "driver/inspect/explain_factors.h"
#include "driver/inspect/kernels/kernel_summary.h"
#include "hardware/presets.h"
#include "report/step/op_labels.h"
#include "report/text/collectives.h"
#include "split/separator.h"

namespace hespas::driver {
namespace {

// Constants of the calibrated model with what they were fitted on; empty where the file cannot be read.
std::vector<report::Parameter> CalibrationConstants(const hardware::Device& device) {
  std::vector<report::Parameter> constants;
  const auto folder = hardware::DataFolder();
  if (!folder) return constants;
  const auto text = ReadInput((*folder / "models/calibrated.json").string());
  if (!text) return constants;
  const auto json = ReadOrderedJson(*text);
  if (!json.is_object() || !json.contains("families")) return constants;
  for (const auto& [family, entry] : json["families"].items()) {
    if (!entry.contains("constants")) continue;
    for (const auto& [name, constant] : entry["constants"].items()) {
      const std::string key = family + "." + name;
      const auto own = device.calibration.find(key);
      const double value = own != device.calibration.end() ? own->second : constant.value("value", 0.0);
      const std::string source =
          own != device.calibration.end()
              ? "device file or option: calibration " + key
              : "calibration set: " + entry.value("fitted_on", std::string("models/calibrated.json"));
      const std::string unit = constant.value("unit", std::string());
      constants.push_back({key, unit == "1" ? fmt::format("{}", value) : fmt::format("{} {}", value, unit), source});
    }
  }
  return constants;
}

std::optional<size_t> NumberBehind(std::string_view text, std::string_view word) {
  if (text.starts_with(word)) text.remove_prefix(word.size());
  while (text.starts_with(' ')) text.remove_prefix(1);
  size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() && !text.empty() ? std::optional(number)
                                                                                   : std::nullopt;
}

// Blocks by how much of the step they take, summed over equal ones.
class Finder {
 public:
  Finder(const Finished& run, const report::StepView& step) : step_(step), module_(*run.prepared.module) {}

  // The costliest block with an op of that name, kind or place in a fusion.
  std::optional<graph::BlockId> ByName(std::string_view name) {
    std::optional<graph::BlockId> best;
    Time most(-1);
    for (size_t i = 0; i < step_.blocks.blocks.size(); ++i) {
      const graph::Block& block = step_.blocks.blocks[i];
      if (!Holds(block, name)) continue;
      const graph::Estimate* estimate = step_.estimates.Of(graph::BlockId(i));
      const Time time = estimate == nullptr ? Time() : estimate->time;
      if (time <= most) continue;
      most = time;
      best = graph::BlockId(i);
    }
    return best;
  }

  const std::set<std::string>& names() const { return names_; }

 private:
  bool Holds(const graph::Block& block, std::string_view name) {
    return std::any_of(block.ops.begin(), block.ops.end(), [&](ir::OpId op) {
      const ir::OpId collective = split::CollectiveOf(module_, op);  // which a start may hold
      for (const ir::OpId one : {op, report::HeroOf(module_, op), collective.valid() ? collective : op}) {
        const std::string_view full = module_.name(one);
        names_.emplace(full);
        names_.emplace(report::ShortName(full));
        if (full == name || report::ShortName(full) == name) return true;
      }
      const std::string_view kind = report::KindLabel(module_, op);
      names_.emplace(kind);
      // What passes have made a library's call is still asked for by its old name.
      return kind == name || (kind == "matmul" && (name == "dot_general" || name == "stablehlo.dot_general")) ||
             (kind == "convolution" && name == "stablehlo.convolution");
    });
  }

  const report::StepView& step_;
  const ir::Module& module_;
  std::set<std::string> names_;
};

// The block that runs a kernel of the optimised program, by its number there (driver/inspect/kernels/kernel_ids.h).
Result<graph::BlockId> BlockOfKernel(const ir::Module& module, const report::StepView& step, size_t number) {
  const Summary summary = Summarise(module);
  const size_t kernels = summary.kernels.size();
  for (size_t i = 0; number < kernels && i < step.blocks.blocks.size(); ++i) {
    const std::vector<ir::OpId>& ops = step.blocks.blocks[i].ops;
    if (std::find(ops.begin(), ops.end(), summary.kernels[number].op) != ops.end()) return graph::BlockId(i);
  }
  return MakeError(kNothingToExplain,
                   number < kernels ? fmt::format("no block of the step runs kernel {}", number)
                                    : fmt::format("there is no kernel {}; the program has {}", number, kernels),
                   {}, "`hespas optimise PROGRAM --explain` lists them");
}

// With the factors of the estimator.
report::Explanation ExplainBlock(const Finished& run, const RunOptions& options, const report::ExplainContext& context,
                                 graph::BlockId block) {
  report::Explanation explained = report::ExplainBlock(context, block);
  if (context.step.estimates.Of(block) != nullptr) explained.factors = FactorsOf(run, options, block);
  return explained;
}

}  // namespace

Result<report::Explanation> Explain(const Finished& run, const RunOptions& options, const std::string& what) {
  const report::StepView step = run.View();
  const report::ExplainContext context{.step = step,
                                       .device = run.prepared.device,
                                       .system = run.system ? &*run.system : nullptr,
                                       .estimator = options.estimate.estimator,
                                       .changes = options.changes,
                                       .calibration = CalibrationConstants(run.prepared.device)};
  if (const auto number = NumberBehind(what, "collective")) {
    if (what.starts_with("collective")) {
      const size_t collectives = run.simulated ? run.simulated->collectives.size() : 0;
      if (*number < collectives) return report::ExplainCollective(context, *number);
      return MakeError(kNothingToExplain,
                       fmt::format("there is no collective {}; {} were simulated", *number, collectives));
    }
  }
  if (const auto number = NumberBehind(what, "kernel"); number && what.starts_with("kernel")) {
    const auto block = BlockOfKernel(*run.prepared.module, step, *number);
    if (!block) return block.error();
    return ExplainBlock(run, options, context, *block);
  }
  if (const auto number = NumberBehind(what, "block")) {
    const size_t blocks = step.blocks.blocks.size();
    if (*number < blocks) return ExplainBlock(run, options, context, graph::BlockId(*number));
    return MakeError(kNothingToExplain,
                     fmt::format("there is no block {}; the program has {} blocks", *number, blocks));
  }
  Finder finder(run, step);
  if (const auto block = finder.ByName(what)) return ExplainBlock(run, options, context, *block);
  const std::vector<std::string> names(finder.names().begin(), finder.names().end());
  return MakeError(kNothingToExplain, fmt::format("the program has no block, operation or collective `{}`", what), {},
                   DidYouMean(what, names, "name a block by number, or an operation of the program"));
}

}  // namespace hespas::driver
