#include "driver/inspect/kernels/explained_kernels.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <map>

#include "driver/inspect/kernels/kernel_ids.h"
#include "ir/facts/fusion.h"
#include "report/step/kernel_name.h"
#include "report/step/op_labels.h"
#include "report/step/scope_path.h"

namespace hespas::driver {
namespace {

using report::Align;

constexpr size_t kNamedOps = 3;

struct Timed {
  const KernelSummary* kernel = nullptr;
  Time time;
};

std::vector<Timed> ByTime(const ExplainedKernels& kernels) {
  std::vector<Timed> all;
  estimate::Notes notes;
  for (const KernelSummary& kernel : kernels.summary.kernels)
    all.push_back({&kernel, kernels.estimator.EstimateOp(kernels.module, kernel.op, notes).time});
  std::ranges::stable_sort(all, std::greater(), &Timed::time);
  return all;
}

// "9: multiply, add, reduce, ...", without constants.
std::string OpsOf(const ir::Module& module, ir::OpId kernel) {
  if (module.kind(kernel) != ir::OpKind::kFusion) return report::ContentName(module, kernel);
  std::vector<std::string_view> names;
  size_t count = 0;
  for (const ir::OpId op : ir::FusedOps(module, kernel)) {
    if (module.op(op).result_count == 0 || ir::Traits(module.kind(op)).sort == ir::OpSort::kConstant) continue;
    ++count;
    const std::string_view name = report::ShortName(module.name(op));
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  const bool more = names.size() > kNamedOps;
  if (more) names.resize(kNamedOps);
  return fmt::format("{}: {}{}", count, fmt::join(names, ", "), more ? ", ..." : "");
}

// Of each kernel the reason of what it stores, else of its last op; without the neighbours.
std::map<std::string, std::string> ReasonsOf(const std::vector<optimise::Explanation>& explanations,
                                             const KernelIds& ids) {
  std::map<std::string, std::string> reasons;
  constexpr std::string_view kOne = "kernel ";
  for (const optimise::Explanation& entry : explanations) {
    const std::string kernel = ids.Renumbered(entry.kernel);
    if (!kernel.starts_with(kOne) || kernel.find(',') != std::string::npos) continue;
    const std::string reason = entry.reason.substr(0, entry.reason.find(';'));
    std::string& told = reasons[kernel.substr(kOne.size())];
    // What keeps a kernel from growing is said of what it stores.
    if (told.empty() || reason.starts_with("materialized") || !told.starts_with("materialized")) told = reason;
  }
  return reasons;
}

std::string Micro(Time time) { return fmt::format("{:.3f}", time.seconds() * 1e6); }

}  // namespace

report::Table ReasonTable(const ExplainedKernels& kernels) {
  report::Table table{.columns = {{"kernel", Align::kRight},
                                  {"layer"},
                                  {"ops"},
                                  {"bytes", Align::kRight},
                                  {"time_us", Align::kRight},
                                  {"reason"}},
                      .rows = {}};
  const KernelIds ids(kernels.module, kernels.summary);
  const std::map<std::string, std::string> reasons = ReasonsOf(kernels.explanations, ids);
  for (const auto& [kernel, time] : ByTime(kernels)) {
    const std::string number = ids.Of(kernel->op);
    const auto reason = reasons.find(number);
    table.rows.push_back({number, report::LayerOf(report::FrameworkName(kernels.module, kernel->op)),
                          OpsOf(kernels.module, kernel->op), std::to_string(kernel->bytes), Micro(time),
                          reason == reasons.end() ? "a kernel of its own" : reason->second});
  }
  return table;
}

report::Table KernelTable(const ExplainedKernels& kernels) {
  report::Table table{.columns = {{"number", Align::kRight},
                                  {"kernel"},
                                  {"bytes", Align::kRight},
                                  {"flops", Align::kRight},
                                  {"time_us", Align::kRight},
                                  {"types"}},
                      .rows = {}};
  const ir::Module& module = kernels.module;
  const KernelIds ids(module, kernels.summary);
  for (const auto& [kernel, time] : ByTime(kernels)) {
    std::string types;
    for (const ir::ValueId value : module.operands(kernel->op))
      types += module.types().Text(module.type_id(value)) + " ";
    types += "->";
    for (const ir::ValueId value : module.results(kernel->op))
      types += " " + module.types().Text(module.type_id(value));
    table.rows.push_back({ids.Of(kernel->op), std::string(module.name(kernel->op)), std::to_string(kernel->bytes),
                          std::to_string(kernel->flops), Micro(time), types});
  }
  return table;
}

}  // namespace hespas::driver
