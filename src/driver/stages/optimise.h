// The optimise stage: XLA's passes as a run uses them: which passes for which device.
//
// - auto: the passes of the device's family, unless the program already has fusions or library calls.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "base/result.h"
#include "driver/configuration/words.h"
#include "hardware/device.h"
#include "ir/module.h"
#include "memory/buffers/buffer_policy.h"
#include "memory/memory.h"
#include "optimise/optimise.h"

namespace hespas::driver {

struct RunOptions;

enum class OptimiseMode : uint8_t {
  kAuto,
  kNone,
  kXlaGpu,
  kXlaTpu,
  kXlaCpu,
  kXla,  // XLA's own compiler
  // Of --split fusion, without a word: as XLA's CPU compiler simplifies and fuses, without what it does inside of
  // blocks anyway, so that any compiler of StableHLO takes what comes out.
  kFusionAlone,
};

template <>
inline constexpr std::array<Word<OptimiseMode>, 6> kWords<OptimiseMode> = {{{"auto", OptimiseMode::kAuto},
                                                                            {"none", OptimiseMode::kNone},
                                                                            {"xla-gpu", OptimiseMode::kXlaGpu},
                                                                            {"xla-tpu", OptimiseMode::kXlaTpu},
                                                                            {"xla-cpu", OptimiseMode::kXlaCpu},
                                                                            {"xla", OptimiseMode::kXla}}};

struct OptimiseOptions {
  OptimiseMode mode = OptimiseMode::kAuto;
  std::vector<std::string> disabled;
  std::string stop_after;
  std::vector<std::string> xla_flags;  // as XLA writes them (driver/configuration/xla_flags.h)
  bool expand_kernels = false;         // back to plain StableHLO, for execution
  bool keep_kernels = false;           // passes decide as for the device without --set
  bool schedule_limit = false;         // overlap under the device's memory limit, also where nothing fits into it
};

// The mode of a run as its estimator leaves it: what measures blocks, and the prototype, take `auto` for `none`.
OptimiseMode OptimiseModeOf(const RunOptions& options);

// Whether the program runs as XLA's CPU compiler would have it.
bool IsForCpu(OptimiseMode mode, const hardware::Device& device);

// Whose buffers a program for the device has; `on_cpu`: it was optimised for a CPU.
memory::Compiler CompilerOf(const hardware::Device& device, bool on_cpu = false);

// What XLA's GPU scheduler lets a program hold on the device; empty where there is no such limit or it is not known.
memory::SchedulerRoom RoomOn(const hardware::Device& device);

// Whether the passes make the same of any program for both.
bool OptimisesAlike(const hardware::Device& a, const hardware::Device& b);

// What the passes know of a device, and whether any run.
struct OptimiserInput {
  bool run = false;  // false: the program stays as it is
  optimise::Options options;
  bool schedule_limit = false;
};

// Of a program as it was read, for the passes that are built in (not `xla`); reports flags that they do not follow.
std::optional<OptimiserInput> OptimiserInputFor(const ir::Module& module, const OptimiseOptions& options,
                                                const hardware::Device& device, Diagnostics& diagnostics);

// The built-in passes. XLA overlaps communication as far as memory allows. A program that exceeds the device's memory
// in any case would be scheduled with next to no overlap; it gets the schedule of a device with enough memory instead,
// unless `input.schedule_limit` asks for XLA's. `source` can be optimised again; `report` may be null.
Result<ir::Module> OptimiseFor(const hardware::Device& device, ir::Module& source, const OptimiserInput& input,
                               optimise::Report* report = nullptr);

// `report` may be null. With no passes to run `module` itself comes back, moved; else it can be optimised again.
std::optional<ir::Module> OptimiseModule(ir::Module& module, const OptimiseOptions& options,
                                         const hardware::Device& device, Diagnostics& diagnostics,
                                         optimise::Report* report = nullptr);

}  // namespace hespas::driver
