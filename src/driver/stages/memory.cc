#include "driver/stages/memory.h"

#include <fmt/format.h>

#include <vector>

#include "driver/stages/optimise.h"
#include "driver/stages/run_options.h"
#include "memory/memory.h"
#include "report/step/op_labels.h"
#include "report/step/scope_path.h"
#include "report/text/table.h"

namespace hespas::driver {
namespace {

// Time of each op of `main`, ops of laid-out bodies counted where the body stands.
std::vector<Time> DurationsOfMain(const Prepared& prepared, const Estimated& estimated) {
  const ir::Module& module = *prepared.module;
  const ir::BlockId main = module.body(module.main());
  std::vector<Time> durations(module.op_count());
  for (size_t b = 0; b < prepared.blocks.blocks.size(); ++b) {
    const graph::Block& block = prepared.blocks.blocks[b];
    const graph::Estimate* estimate = estimated.table.Of(graph::BlockId(b));
    if (estimate == nullptr || block.ops.empty()) continue;
    ir::OpId op = block.ops.back();
    while (op.valid() && module.op(op).block != main) op = module.parent_op(op);
    if (op.valid()) durations[op.index()] += block.repeats * estimate->time;
  }
  return durations;
}

// The curve's time is busy time of the device; stretched, it covers the step.
void Stretch(Time busy, Time step, result::MemoryCurve& curve) {
  if (busy.value <= 0 || step.value <= 0) return;
  const double factor = step.seconds() / busy.seconds();
  const auto stretch = [&](Time& time) { time = Time::Seconds(time.seconds() * factor); };
  stretch(curve.peak_at);
  for (result::MemoryPoint& point : curve.points) stretch(point.start);
  for (result::LayerChange& change : curve.layer_changes) stretch(change.at);
  for (result::LiveTensor& tensor : curve.largest) {
    stretch(tensor.from);
    stretch(tensor.until);
  }
}

}  // namespace

void FillMemory(const Prepared& prepared, const Estimated& estimated, bool by_layer, result::RunResult& result) {
  const std::vector<Time> durations = DurationsOfMain(prepared, estimated);
  Time busy;
  for (const Time duration : durations) busy += duration;
  const auto duration = [&](ir::OpId op) { return durations[op.index()]; };
  memory::MemoryOptions how{.duration = duration,
                            .keep_order = prepared.scheduled,
                            .compiler = CompilerOf(prepared.device, prepared.on_cpu),
                            .room = RoomOn(prepared.device)};
  const report::FrameworkNames names(&*prepared.module);
  if (by_layer && names.any()) how.layer = [&](ir::OpId op) { return report::LayerOf(names.Of(op)); };
  result.memory = memory::MemoryOf(*prepared.module, how);
  Stretch(busy, result.step_time, *result.memory);
  result.peak_memory = result.memory->peak;
  result.memory_capacity = prepared.device.memory_capacity;
  if (result.memory_capacity) result.fits_in_memory = *result.peak_memory <= *result.memory_capacity;
}

Status CheckFit(const RunOptions& options, const Prepared& prepared, const result::RunResult& result) {
  if (!options.memory.require_fit || result.fits_in_memory.value_or(true)) return {};
  return MakeError(kDoesNotFit,
                   fmt::format("the program needs {}, `{}` has {}", report::HumanBytes(*result.peak_memory),
                               prepared.device.name, report::HumanBytes(*prepared.device.memory_capacity)),
                   {.file = options.program.path},
                   "`largest` in the memory section of --format json names the tensors");
}

}  // namespace hespas::driver
