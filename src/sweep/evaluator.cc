#include "sweep/evaluator.h"

#include <fmt/format.h>

#include <algorithm>

#include "assemble/assemble.h"
#include "base/system/file.h"
#include "driver/configuration/changes.h"
#include "driver/configuration/presets.h"
#include "driver/figures/summarise.h"
#include "driver/stages/network.h"
#include "driver/pipeline/pipeline.h"
#include "split/split.h"

namespace hespas::sweep {
namespace {

using driver::RunOptions;

constexpr size_t kCopies = 4;  // of traces, for each thread
constexpr std::string_view kShared[] = {"calibrated", "roofline", "systolic", "scalesim", "genz"};

bool GoesWhole(const RunOptions& options) {
  const bool shared = std::find(std::begin(kShared), std::end(kShared), options.estimate.estimator) != std::end(kShared);
  return !shared || options.optimise.mode == driver::OptimiseMode::kXla || options.compat || !options.parts.rank_devices.empty() ||
         !options.parts.programs.empty() || !options.optimise.xla_flags.empty();
}

std::string Joined(const std::vector<std::string>& texts) {
  std::string out;
  for (const std::string& text : texts) out += text + '\n';
  return out;
}

void Fail(const Diagnostics& diagnostics, Row& row) {
  for (const Diagnostic& diagnostic : diagnostics.all()) {
    if (diagnostic.is_warning()) continue;
    row.error = diagnostic.kind->code;
    row.message = diagnostic.message;
    return;
  }
}

// Traces with the durations of `work`, this thread's own.
const trace::TraceGraph& WithDurations(const std::shared_ptr<const Assembled>& assembled,
                                       const std::shared_ptr<const Work>& work, Scratch& scratch) {
  auto& copies = scratch.copies;
  auto found = std::find_if(copies.begin(), copies.end(), [&](const auto& copy) { return copy.of == assembled; });
  if (found == copies.end()) {
    if (copies.size() >= kCopies) copies.pop_back();
    copies.push_front({assembled, nullptr, assembled->traces});
    found = copies.begin();
  }
  copies.splice(copies.begin(), copies, found);
  if (found->durations != work) {
    assemble::SetDurations(work->estimated.table, found->traces);
    found->durations = work;
  }
  return found->traces;
}

void FillResult(const hardware::Device& device, const Structure& structure, const Work& work, result::RunResult& out) {
  out.device = device.name;
  out.flops = work.flops;
  out.bytes_accessed = work.bytes;
  if (work.power) out.energy_j = driver::StepEnergy(*work.power, work.compute_j, out);
  out.peak_memory = structure.PeakMemory();
  if (device.memory_capacity) out.fits_in_memory = *out.peak_memory <= *device.memory_capacity;
  out.throughput = structure.throughput();
}

}  // namespace

Result<std::shared_ptr<SharedProgram>> Evaluator::ProgramOf(const RunOptions& options) {
  const std::lock_guard lock(mutex_);
  auto& content = contents_[options.program.path];
  if (!content) {
    auto raw = ReadRaw(options.program.path);
    if (!raw) return raw.error();
    content = std::make_shared<const std::string>(*std::move(raw));
  }
  const driver::Assumptions& assumed = options.program.assumptions;
  const std::string key =
      fmt::format("{}\n{}|{}|{}", options.program.path, assumed.trip_count, assumed.devices, assumed.moe_imbalance);
  if (auto* known = programs_.Find(key)) return *known;
  return programs_.Add(key, std::make_shared<SharedProgram>(content, key));
}

std::shared_ptr<const hardware::Device> Evaluator::BaseDevice(const RunOptions& options, Diagnostics& diagnostics) {
  {
    const std::lock_guard lock(mutex_);
    if (auto* known = devices_.Find(options.device.name)) return *known;
  }
  RunOptions plain;
  plain.device.name = options.device.name;
  auto device = driver::DeviceOf(plain, diagnostics);
  if (!device) return nullptr;
  auto made = std::make_shared<const hardware::Device>(*std::move(device));
  const std::lock_guard lock(mutex_);
  if (devices_.Find(options.device.name) == nullptr) devices_.Add(options.device.name, made);
  return made;
}

std::shared_ptr<const hardware::System> Evaluator::BaseSystem(const std::string& name, Diagnostics& diagnostics) {
  {
    const std::lock_guard lock(mutex_);
    if (auto* known = systems_.Find(name)) return *known;
  }
  auto system = driver::LoadSystemPreset(name, diagnostics);
  if (!system) return nullptr;
  auto made = std::make_shared<const hardware::System>(*std::move(system));
  const std::lock_guard lock(mutex_);
  if (systems_.Find(name) == nullptr) systems_.Add(name, made);
  return made;
}

std::optional<hardware::System> Evaluator::NodeOf(const hardware::Device& device, size_t npus,
                                                  Diagnostics& diagnostics) {
  const std::string key = fmt::format("{}\n{}", device.name, npus);
  std::string preset;
  {
    const std::lock_guard lock(mutex_);
    auto* known = nodes_.Find(key);
    preset = known != nullptr ? *known : nodes_.Add(key, driver::NodePresetOf(device.name, npus));
  }
  if (preset.empty()) return driver::NodeOfDevice(device, npus, diagnostics);
  const auto system = BaseSystem(preset, diagnostics);
  return system ? std::optional(*system) : std::nullopt;
}

// The device's own node where `device` is given; with the changes of the point.
std::optional<hardware::System> Evaluator::SystemFor(const RunOptions& options, const hardware::Device* device,
                                                     size_t npus, Diagnostics& diagnostics) {
  std::optional<hardware::System> system;
  if (device != nullptr) {
    system = NodeOf(*device, npus, diagnostics);
  } else if (const auto base = BaseSystem(options.system.name, diagnostics)) {
    system = *base;
  }
  if (!system) return std::nullopt;
  if (const Status changed = driver::ChangeSystem(options.changes, *system); !changed) {
    diagnostics.Report(changed.error());
    return std::nullopt;
  }
  return system;
}

std::shared_ptr<const Evaluator::DeviceAndWork> Evaluator::WorkFor(const RunOptions& options,
                                                                   Diagnostics& diagnostics) {
  std::vector<std::string> own;
  for (const std::string& change : options.changes) {
    if (!change.starts_with("system.")) own.push_back(change);
  }
  const auto program = ProgramOf(options);
  if (!program) {
    diagnostics.Report(program.error());
    return nullptr;
  }
  const driver::EstimateOptions& estimate = options.estimate;
  const std::string key =
      fmt::format("{}|{}|{}|{}|{}|{}|{}|{}|{}", (*program)->key(), options.device.name, Joined(own), estimate.estimator,
                  estimate.settings.fallback, static_cast<int>(estimate.settings.dataflow), estimate.flash_attention,
                  static_cast<int>(options.optimise.mode), driver::KeyOf(options.split));
  {
    const std::lock_guard lock(mutex_);
    if (auto* known = works_.Find(key)) return *known;
  }
  const auto base = BaseDevice(options, diagnostics);
  if (!base) return nullptr;
  DeviceAndWork made{.device = *base, .structure = {}, .work = {}};
  if (const Status changed = driver::ChangeDevice(options.changes, made.device); !changed) {
    diagnostics.Report(changed.error());
    return nullptr;
  }
  made.structure = (*program)->StructureFor(options, made.device, diagnostics);
  if (!made.structure) return nullptr;
  auto work = EstimateWork(options, made.device, *made.structure, diagnostics);
  if (!work) return nullptr;
  made.work = std::make_shared<const Work>(*std::move(work));
  auto shared = std::make_shared<const DeviceAndWork>(std::move(made));
  const std::lock_guard lock(mutex_);
  if (works_.Find(key) == nullptr) works_.Add(key, shared);
  return shared;
}

bool Evaluator::Try(const RunOptions& options, Scratch& scratch, Row& row, bool& steady, Diagnostics& diagnostics) {
  const bool network = options.network.backend != driver::NetworkBackend::kNone;
  std::optional<hardware::System> system;
  if (network && options.system.name != driver::kAutoSystem) {
    system = SystemFor(options, nullptr, 0, diagnostics);
    if (!system) return false;
  }
  const auto made = WorkFor(options, diagnostics);
  if (!made) return false;
  const auto assembled =
      made->structure->TracesFor(options, made->work->estimated, system ? &*system : nullptr, diagnostics);
  if (!assembled) return false;
  const size_t npus = assembled->traces.program_of_rank.size();
  if (network && !system && npus > 1) {
    system = SystemFor(options, &made->device, npus, diagnostics);
    if (!system) return false;
  }
  result::RunResult& out = row.result;
  out.npus = static_cast<int64_t>(npus);
  out.compute_time = out.step_time = made->work->compute;
  if (system) {
    const trace::TraceGraph& traces = WithDurations(assembled, made->work, scratch);
    const auto simulated = driver::SimulateStep(options, made->device, traces, *system, diagnostics,
                                                {.plan = &assembled->plan, .record_nodes = false});
    if (!simulated) return false;
    steady = simulated->loop_drift.value_or(0) <= driver::kSteady;
    driver::FillTimes(*simulated, out);
    out.system = system->name;
  }
  FillResult(made->device, *made->structure, *made->work, out);
  return true;
}

void Evaluator::RunWhole(const RunOptions& options, Row& row, Diagnostics& diagnostics) {
  auto result = driver::Run(options, diagnostics);
  if (result) row.result = *std::move(result);
}

void Evaluator::Evaluate(const RunOptions& given, Scratch& scratch, Row& row) {
  RunOptions options = given;
  Diagnostics diagnostics;
  if (GoesWhole(options)) {
    RunWhole(options, row, diagnostics);
    return Fail(diagnostics, row);
  }
  bool steady = true;
  options.split.loop_window = split::kShortWindow;
  if (Try(options, scratch, row, steady, diagnostics) && !steady) {
    options.split.loop_window = split::kLongWindow;
    row.result = {};
    Try(options, scratch, row, steady, diagnostics);
  }
  Fail(diagnostics, row);
}

}  // namespace hespas::sweep
