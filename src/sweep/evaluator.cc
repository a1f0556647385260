#include "sweep/evaluator.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "assemble/assemble.h"
#include "base/system/file.h"
#include "driver/configuration/changes.h"
#include "driver/configuration/presets.h"
#include "driver/figures/summarise.h"
#include "driver/figures/uncertainty.h"
#include "driver/figures/utilisation.h"
#include "driver/pipeline/run.h"
#include "split/split.h"

namespace hespas::sweep {
namespace {

using driver::RunOptions;

constexpr size_t kCopies = 4;  // of traces, for each thread
constexpr std::string_view kShared[] = {"calibrated", "roofline", "systolic", "scalesim", "genz"};

bool GoesWhole(const RunOptions& options) {
  const bool shared =
      std::find(std::begin(kShared), std::end(kShared), options.estimate.estimator) != std::end(kShared);
  return !shared || options.optimise.mode == driver::OptimiseMode::kXla || options.compat ||
         !options.parts.rank_devices.empty() || !options.parts.programs.empty() ||
         !options.optimise.xla_flags.empty() || options.optimise.keep_kernels;
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
  out.price = device.price;
  out.flops = work.flops;
  out.bytes_accessed = work.bytes;
  if (work.power) out.energy_j = driver::StepEnergy(*work.power, work.compute_j, out);
  out.peak_memory = structure.PeakMemory(device);
  if (work.sigma) out.step_time_sigma = driver::StepSigma(device, *work.sigma, out.exposed_communication);
  if (device.memory_capacity) out.fits_in_memory = *out.peak_memory <= *device.memory_capacity;
  driver::FillUtilisation(device, work.load, structure.prepared().model_work, out);
}

}  // namespace

Result<std::shared_ptr<SharedProgram>> Evaluator::ProgramOf(const RunOptions& options) {
  const std::lock_guard lock(mutex_);
  auto& content = contents_[options.program.path];
  if (!content) content = options.program.content;
  if (!content) {
    auto raw = ReadRaw(options.program.path);
    if (!raw) return raw.error();
    content = std::make_shared<const std::string>(*std::move(raw));
  }
  const driver::Assumptions& assumed = options.program.assumptions;
  const std::string key = fmt::format(
      "{}\n{}|{}|{}|{}|{}|{}", options.program.path, assumed.trip_count, assumed.devices, assumed.moe_imbalance,
      fmt::join(assumed.branch_probabilities, ","), Joined(assumed.kernel_costs), Joined(options.program.bind));
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
  const std::string key = fmt::format(
      "{}|{}|{}|{}|{}|{}|{}|{}|{}|{}", (*program)->key(), options.device.name, Joined(own), estimate.estimator,
      estimate.settings.fallback, static_cast<int>(estimate.settings.dataflow), estimate.flash_attention,
      static_cast<int>(options.optimise.mode), options.optimise.schedule_limit, driver::KeyOf(options.split));
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

// The stages of one point, as far as other points have left them.
class Evaluator::SharedStages : public driver::Stages {
 public:
  SharedStages(Evaluator& evaluator, Scratch& scratch) : evaluator_(evaluator), scratch_(scratch) {}

  bool LoadSystem(const RunOptions& options, Diagnostics& diagnostics) override {
    system_ = evaluator_.SystemFor(options, nullptr, 0, diagnostics);
    return system_.has_value();
  }
  // Estimates are kept with what they are of.
  bool Prepare(const RunOptions& options, Diagnostics& diagnostics) override {
    made_ = evaluator_.WorkFor(options, diagnostics);
    return made_ != nullptr;
  }
  bool Split(const RunOptions& options, Diagnostics& diagnostics) override { return Prepare(options, diagnostics); }
  bool Estimate(const RunOptions&, Diagnostics&) override { return true; }
  bool Assemble(const RunOptions& options, Diagnostics& diagnostics) override {
    assembled_ =
        made_->structure->TracesFor(options, made_->work->estimated, system_ ? &*system_ : nullptr, diagnostics);
    return assembled_ != nullptr;
  }
  bool JoinDevices(const RunOptions& options, Diagnostics& diagnostics) override {
    system_ = evaluator_.SystemFor(options, &made_->device, npus(), diagnostics);
    return system_.has_value();
  }
  bool Simulate(const RunOptions& options, Diagnostics& diagnostics) override {
    simulated_ = driver::SimulateStep(options, made_->device, WithDurations(assembled_, made_->work, scratch_),
                                      *system_, diagnostics, {.plan = &assembled_->plan, .record_nodes = false});
    return simulated_.has_value();
  }

  bool has_system() const override { return system_.has_value(); }
  size_t npus() const override { return assembled_->traces.program_of_rank.size(); }
  double loop_drift() const override { return simulated_ ? simulated_->loop_drift.value_or(0) : 0; }

  void Fill(const RunOptions& options, result::RunResult& out) const {
    out.estimator = options.estimate.estimator;
    out.npus = static_cast<int64_t>(npus());
    out.compute_time = out.step_time = made_->work->compute;
    if (simulated_) {
      out.network_model = driver::NetworkModelOf(options);
      driver::FillTimes(*simulated_, out);
    }
    if (system_) out.system = system_->name;
    out.throughput = assembled_->throughput;
    FillResult(made_->device, *made_->structure, *made_->work, out);
  }

 private:
  Evaluator& evaluator_;
  Scratch& scratch_;
  std::optional<hardware::System> system_;
  std::shared_ptr<const DeviceAndWork> made_;
  std::shared_ptr<const Assembled> assembled_;
  std::optional<result::SimResult> simulated_;
};

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
  options.split.loop_window = split::kShortWindow;
  SharedStages stages(*this, scratch);
  if (driver::MakeStep(options, stages, diagnostics)) stages.Fill(options, row.result);
  if (options.device.price) row.result.price = options.device.price;
  Fail(diagnostics, row);
}

}  // namespace hespas::sweep
