#include "driver/stages/fresh_stages.h"
#include "driver/stages/platform.h"

namespace hespas::driver {

std::optional<Prepared> Prepare(const RunOptions& options, Diagnostics& diagnostics) {
  auto device = ChangedDeviceOf(options, diagnostics);
  if (!device) return std::nullopt;
  auto program = ReadProgramOf(options.program, diagnostics);
  return program ? PrepareFrom(options, *std::move(device), *program, diagnostics) : std::nullopt;
}

std::optional<Prepared> PrepareFrom(const RunOptions& options, hardware::Device device, ReadProgram& program,
                                    Diagnostics& diagnostics) {
  if (!options.compat) CheckPlatform(program.module, device, diagnostics);
  OptimiseOptions optimise = options.optimise;
  optimise.mode = OptimiseModeOf(options);
  const bool unless_done = optimise.mode == OptimiseMode::kAuto || optimise.mode == OptimiseMode::kFusionAlone;
  Prepared prepared{.device = std::move(device),
                    .sha256 = program.sha256,
                    .ops = program.ops,
                    .scheduled = program.scheduled,
                    .optimised = optimise.mode != OptimiseMode::kNone && !(unless_done && program.scheduled)};
  prepared.model_work = program.model_work;
  prepared.on_cpu = IsForCpu(optimise.mode, prepared.device);
  const auto compiled_for = optimise.keep_kernels ? DeviceOf(options, diagnostics) : std::optional(prepared.device);
  if (!compiled_for) return std::nullopt;
  auto module = OptimiseModule(program.module, optimise, *compiled_for, diagnostics);
  if (!module) return std::nullopt;
  prepared.module = std::make_unique<ir::Module>(std::move(*module));
  return SplitBlocks(options, prepared, diagnostics) ? std::optional(std::move(prepared)) : std::nullopt;
}

}  // namespace hespas::driver
