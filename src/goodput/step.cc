#include "goodput/step.h"

#include <algorithm>
#include <map>

#include "driver/stages/cost/energy.h"
#include "ir/attributes/attribute.h"
#include "ir/facts/shardings.h"

namespace hespas::goodput {
namespace {

// Of the step, how long arithmetic keeps the device busy.
double Arithmetic(const driver::Finished& run) {
  const std::vector<int64_t> uses = graph::Uses(run.prepared.blocks, run.estimated.table);
  double seconds = 0;
  for (size_t i = 0; i < uses.size(); ++i) {
    const graph::Estimate& estimate = run.estimated.table.unique[i];
    for (const graph::Term& term : estimate.terms) {
      if (term.name == graph::kComputeTerm)
        seconds += static_cast<double>(uses[i]) * std::min(term.time.seconds(), estimate.time.seconds());
    }
  }
  const double step = run.result.step_time.seconds();
  return step > 0 ? std::min(1.0, seconds / step) : 0;
}

DeviceLoad LoadOf(const driver::Finished& run) {
  const hardware::Device& device = run.prepared.device;
  if (!run.result.energy_j || !device.tdp_w) return {};
  const auto power = driver::PowerOf(device);
  return {.watts = std::min(*run.result.energy_j / run.result.step_time.seconds(), *device.tdp_w),
          .idle_w = power->idle_w,
          .tdp_w = *device.tdp_w,
          .arithmetic = Arithmetic(run)};
}

}  // namespace

State StateOf(const ir::Module& module, int64_t devices) {
  if (!module.main().valid()) return {};
  const ir::BlockId body = module.body(module.main());
  if (!body.valid() || module.block(body).ops.empty()) return {};
  std::map<uint32_t, int64_t> results;
  for (const ir::ValueId value : module.operands(module.block(body).ops.back()))
    ++results[static_cast<uint32_t>(module.type_id(value).index())];
  const std::string_view* attributes = module.attribute(module.main(), "arg_attrs");
  const auto items = attributes != nullptr ? ir::ListItems(*attributes) : std::vector<std::string_view>();
  const ir::MeshAxes axes = ir::MeshAxesOf(module);
  State out;
  size_t number = 0;
  for (const ir::ValueId value : module.arguments(body)) {
    const size_t at = number++;
    const auto left = results.find(static_cast<uint32_t>(module.type_id(value).index()));
    if (left == results.end() || left->second == 0) continue;
    --left->second;
    const auto tiling = at < items.size() ? ir::TilingOfAttributes(items[at], axes) : std::nullopt;
    double parts = static_cast<double>(devices);
    if (tiling) {
      parts = 1;
      for (const int64_t part : tiling->parts) parts *= static_cast<double>(part);
    }
    const auto bytes = static_cast<double>(ir::ByteSize(module.types(), module.type_id(value)));
    out.device += bytes;
    out.all += bytes * std::min(parts, static_cast<double>(devices));
  }
  return out;
}

std::optional<Step> StepOf(const driver::RunOptions& options, Diagnostics& diagnostics) {
  const auto run = driver::RunStages(options, diagnostics);
  if (!run || run->result.step_time.value <= 0) return std::nullopt;
  const result::RunResult& r = run->result;
  const double seconds = r.step_time.seconds();
  Step step{.program = r.program.path,
            .device = r.device,
            .family = run->prepared.device.family,
            .devices = r.npus,
            .seconds = seconds,
            .sigma = r.step_time_sigma ? r.step_time_sigma->seconds() / seconds : 0,
            .batch = r.batch().value_or(0),
            .unit = r.throughput ? r.throughput->unit : "tokens",
            .state = StateOf(*run->prepared.module, r.npus),
            .load = LoadOf(*run)};
  const auto& host = run->prepared.device.host_bandwidth;
  if (host) step.host_bandwidth = host->value;
  step.price = r.price;
  return step;
}

}  // namespace hespas::goodput
