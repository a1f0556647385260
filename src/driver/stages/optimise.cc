#include "driver/stages/optimise.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <span>
#include <string_view>
#include <vector>

#include "driver/configuration/xla_flags.h"
#include "driver/stages/program/exact_optimiser.h"
#include "driver/stages/run_options.h"
#include "hardware/capability.h"
#include "hardware/cluster.h"
#include "memory/memory.h"
#include "network/calibrated.h"
#include "optimise/gpu/decisions.h"

namespace hespas::driver {
namespace {

constexpr int kLanesPerSm = 64;
constexpr double kEnoughMemory = 1e18;  // bytes: of a device that does not say how much it has

struct Choice {
  bool run = false;
  optimise::Target target = optimise::Target::kGpu;
  std::span<const std::string_view> left_out = {};  // passes
};

// What XLA's compiler does to a block as to the whole program, some of it by the processor at hand. Done before, copies
// and values of f32 would stand in memory that the whole program never stores.
constexpr std::string_view kInsideBlocks[] = {"canonical-dots", "canonical-convolutions", "reduction-trees",
                                              "float-normalisation"};

// What XLA's programs for TPU v3 have none of (tests/data/optimise, llama3-100m), while profiles of v5e and later have
// a category for it, "all-reduce-scatter fusion".
constexpr std::string_view kNotOnOldTpus[] = {"reduce-scatter"};

bool IsOldTpu(const hardware::Device& device) {
  return device.architecture == "tpu_v2" || device.architecture == "tpu_v3";
}

optimise::Target TargetOf(const hardware::Device& device) {
  if (device.family == "tpu") return optimise::Target::kTpu;
  return device.family == "cpu" ? optimise::Target::kCpu : optimise::Target::kGpu;
}

Choice Choose(const ir::Module& module, OptimiseMode mode, const hardware::Device& device) {
  switch (mode) {
    case OptimiseMode::kNone:
      return {};
    case OptimiseMode::kXlaGpu:
      return {true, optimise::Target::kGpu};
    case OptimiseMode::kXlaTpu:
      return {true, optimise::Target::kTpu};
    case OptimiseMode::kXlaCpu:
      return {true, optimise::Target::kCpu};
    case OptimiseMode::kFusionAlone:
      return {!optimise::IsOptimised(module), optimise::Target::kCpu, kInsideBlocks};
    case OptimiseMode::kXla:
      return {!optimise::IsOptimised(module), optimise::Target::kGpu};
    case OptimiseMode::kAuto:
      break;
  }
  Choice choice{!optimise::IsOptimised(module), TargetOf(device)};
  if (IsOldTpu(device)) choice.left_out = kNotOnOldTpus;
  return choice;
}

// 90 for "sm_90"; other makers' devices, and older ones, are treated as the oldest with bf16.
int Bf16Capability(const hardware::Device& device) {
  constexpr int kOldest = 80;
  return std::max(hardware::ComputeCapability(device), kOldest);
}

// A collective among the devices of one host, by the model that times a step's (src/network): its time without bytes,
// and what `kTypical` bytes add.
optimise::CollectiveFigures FiguresOf(const network::CalibratedModel& model, network::Operation op, uint32_t ranks) {
  constexpr double kTypical = 64 << 20;
  std::vector<uint32_t> members(ranks);
  std::iota(members.begin(), members.end(), 0u);
  const double start = model.PriceOf({.op = op, .bytes = 0}, members).time.seconds();
  const double whole = model.PriceOf({.op = op, .bytes = kTypical}, members).time.seconds();
  return {.start_seconds = start, .bytes_per_second = kTypical / std::max(1e-12, whole - start)};
}

void AddLinks(const hardware::Device& device, optimise::GpuFigures& gpu) {
  constexpr uint32_t kHost = 8;
  const auto& constants = network::DefaultNetworkConstants();
  const int domain = device.interconnect ? device.interconnect->domain_size.value_or(kHost) : 0;
  if (!constants || domain < 2) return;
  const uint32_t ranks = std::min<uint32_t>(kHost, static_cast<uint32_t>(domain));
  const auto host = hardware::ReferenceCluster(device, ranks);
  if (!host) return;
  const network::CalibratedModel model(device, *host, *constants);
  gpu.all_reduce = FiguresOf(model, network::Operation::kAllReduce, ranks);
  gpu.gather = FiguresOf(model, network::Operation::kAllGather, ranks);
}

optimise::GpuFigures FiguresOf(const hardware::Device& device) {
  optimise::GpuFigures gpu{.capability = Bf16Capability(device)};
  gpu.bytes_per_second = device.memory_bandwidth.value;
  if (device.l2_capacity) gpu.l2_bytes = static_cast<double>(device.l2_capacity->value);
  if (device.sm_count) gpu.sm_count = *device.sm_count;
  gpu.lanes_per_sm = device.lanes_per_sm.value_or(kLanesPerSm);
  if (device.clock_hz) gpu.clock_hz = *device.clock_hz;
  gpu.memory_bytes = device.memory_capacity ? static_cast<double>(device.memory_capacity->value) : kEnoughMemory;
  AddLinks(device, gpu);
  return gpu;
}

std::optional<optimise::XlaFlags> FlagsFor(const OptimiseOptions& options, const Choice& choice,
                                           const hardware::Device& device, Diagnostics& diagnostics) {
  const bool followed = choice.run && choice.target != optimise::Target::kCpu;
  const bool launches_alone = TargetOf(device) == optimise::Target::kGpu &&
                              std::all_of(options.xla_flags.begin(), options.xla_flags.end(), SwitchesGraphsOff);
  if (!options.xla_flags.empty() && !followed && !launches_alone) {
    diagnostics.Error(kXlaFlag, "--xla-flag: nothing is optimised for a GPU or a TPU here", {},
                      "leave it out, or add --optimise xla-gpu");
    return std::nullopt;
  }
  if (options.mode == OptimiseMode::kXla) return optimise::XlaFlags{};  // XLA reads its flags itself
  auto flags = XlaFlagsOf(options.xla_flags, choice.target == optimise::Target::kTpu, diagnostics);
  const auto on = [](const std::optional<bool>& offload) { return offload.value_or(false); };
  if (flags && !device.sparse_cores && (on(flags->sparse_core_all_reduce) || on(flags->sparse_core_reduce_scatter))) {
    diagnostics.Error(kXlaFlag, fmt::format("--xla-flag: {} has no SparseCores to carry collectives", device.name), {},
                      "leave the flag out; a device file of your own says how many there are in `sparse_cores`");
    return std::nullopt;
  }
  return flags;
}

}  // namespace

OptimiseMode OptimiseModeOf(const RunOptions& options) {
  if (options.optimise.mode != OptimiseMode::kAuto) return options.optimise.mode;
  if (options.split.strategy == SplitStrategy::kFusion && !options.compat) return OptimiseMode::kFusionAlone;
  // Compilers of what is measured optimise themselves.
  const bool plain = options.compat || estimate::Measures(options.estimate.estimator);
  return plain ? OptimiseMode::kNone : OptimiseMode::kAuto;
}

bool IsForCpu(OptimiseMode mode, const hardware::Device& device) {
  return mode == OptimiseMode::kXlaCpu || (mode == OptimiseMode::kAuto && TargetOf(device) == optimise::Target::kCpu);
}

bool OptimisesAlike(const hardware::Device& a, const hardware::Device& b) {
  return TargetOf(a) == TargetOf(b) && IsOldTpu(a) == IsOldTpu(b) && a.sparse_cores == b.sparse_cores &&
         FiguresOf(a) == FiguresOf(b);
}

memory::Compiler CompilerOf(const hardware::Device& device, bool on_cpu) {
  if (on_cpu) return memory::Compiler::kCpu;
  const bool by_model = Bf16Capability(device) >= optimise::kPlansByModel;
  return by_model ? memory::Compiler::kGpuWithModel : memory::Compiler::kGpu;
}

memory::SchedulerRoom RoomOn(const hardware::Device& device) {
  if (TargetOf(device) != optimise::Target::kGpu || !device.memory_capacity) return {};
  optimise::GpuFigures gpu;
  gpu.memory_bytes = static_cast<double>(device.memory_capacity->value);
  return [gpu](double held) { return optimise::RoomForTemporaries(gpu, held); };
}

std::optional<OptimiserInput> OptimiserInputFor(const ir::Module& module, const OptimiseOptions& options,
                                                const hardware::Device& device, Diagnostics& diagnostics) {
  const Choice choice = Choose(module, options.mode, device);
  const auto flags = FlagsFor(options, choice, device, diagnostics);
  if (!flags) return std::nullopt;
  std::vector<std::string> disabled = options.disabled;
  disabled.insert(disabled.end(), choice.left_out.begin(), choice.left_out.end());
  return OptimiserInput{.run = choice.run,
                        .options = {.target = choice.target,
                                    .gpu = FiguresOf(device),
                                    .flags = *flags,
                                    .bf16_capability = Bf16Capability(device),
                                    .disabled = std::move(disabled),
                                    .stop_after = options.stop_after,
                                    .expand_kernels = options.expand_kernels},
                        .schedule_limit = options.schedule_limit};
}

Result<ir::Module> OptimiseFor(const hardware::Device& device, ir::Module& source, const OptimiserInput& input,
                               optimise::Report* report) {
  optimise::Report own{.explain = false};
  optimise::Report& told = report != nullptr ? *report : own;
  const optimise::Report before = told;
  auto module = optimise::OptimiseAgain(source, input.options, &told);
  if (!module || !told.short_of_memory || input.schedule_limit) return module;
  const Bytes peak = memory::MemoryOf(*module, {.compiler = CompilerOf(device), .room = RoomOn(device)}).peak;
  const optimise::CapacityQuestion fits{static_cast<double>(peak.value)};
  const optimise::GpuFigures& gpu = input.options.gpu;
  optimise::Decisions* decisions = input.options.decisions;
  if (decisions != nullptr ? decisions->Ask(fits, gpu) : optimise::Answer(fits, gpu)) return module;
  optimise::Options enough = input.options;
  enough.memory_limit = false;
  told = before;
  return optimise::OptimiseAgain(source, enough, &told);
}

std::optional<ir::Module> OptimiseModule(ir::Module& module, const OptimiseOptions& options,
                                         const hardware::Device& device, Diagnostics& diagnostics,
                                         optimise::Report* report) {
  const auto input = OptimiserInputFor(module, options, device, diagnostics);
  if (!input) return std::nullopt;
  if (!input->run) return std::move(module);
  if (options.mode == OptimiseMode::kXla) {
    auto exact = OptimiseWithXla(module, device, options.xla_flags, diagnostics);
    if (exact) return std::move(*exact);
    diagnostics.Report(exact.error());
    return std::nullopt;
  }
  auto optimised = OptimiseFor(device, module, *input, report);
  if (optimised) return std::move(*optimised);
  diagnostics.Report(optimised.error());
  return std::nullopt;
}

}  // namespace hespas::driver
