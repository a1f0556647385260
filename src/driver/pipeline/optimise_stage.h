// The optimiser as the pipeline uses it: which passes for which device.
//
// - auto: the passes of the device's family, unless the program already has fusions or library calls.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostic.h"
#include "driver/inspect/kernel_summary.h"
#include "hardware/device.h"
#include "ir/module.h"
#include "optimise/optimise.h"

namespace hespas::driver {

inline constexpr DiagnosticKind kUnknownOptimise{
    "E0907", "--optimise takes auto, none, xla-gpu, xla-tpu, xla-cpu or xla.", Outcome::kUsage};

// The mode of --split fusion: as XLA's CPU compiler simplifies and fuses, without what it does inside of blocks anyway,
// so that any compiler of StableHLO takes what comes out.
inline constexpr std::string_view kFusionAlone = "fusion";

struct OptimiseOptions {
  std::string mode = "auto";  // auto, none, xla-gpu, xla-tpu, xla-cpu, xla, kFusionAlone
  std::vector<std::string> disabled;
  std::string stop_after;
  std::vector<std::string> xla_flags;  // as XLA writes them (driver/configuration/xla_flags.h)
  bool expand_kernels = false;         // back to plain StableHLO, for execution
};

// Whether the program runs as XLA's CPU compiler would have it.
bool IsForCpu(std::string_view mode, const hardware::Device& device);

// Whether XLA plans what runs beside collectives with a model of the device (NVIDIA from Hopper on).
bool IsPlannedByModel(const hardware::Device& device);

// What the passes know of a device, and whether any run.
struct OptimiserInput {
  bool run = false;  // false: the program stays as it is
  optimise::Options options;
};

// Of a program as it was read, for the passes that are built in (not `xla`); reports an unknown mode.
std::optional<OptimiserInput> OptimiserInputFor(const ir::Module& module, const OptimiseOptions& options,
                                                const hardware::Device& device, Diagnostics& diagnostics);

// `report` may be null. With no passes to run the module comes back as it was.
std::optional<ir::Module> OptimiseModule(ir::Module module, const OptimiseOptions& options,
                                         const hardware::Device& device, Diagnostics& diagnostics,
                                         optimise::Report* report = nullptr);

// One JSON object, as the design of interfaces says for `hespas optimise --format json`.
std::string SummaryJson(const driver::Summary& summary, const std::vector<std::string>& passes);

}  // namespace hespas::driver
