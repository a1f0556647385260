// Measures blocks with a PJRT plugin, in worker processes (cli/hespas_pjrt_worker.cc): what a plugin does to its
// process costs one block.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/system/file.h"
#include "base/system/process.h"
#include "base/system/scratch_folder.h"
#include "base/text/json.h"
#include "estimate/profile/file_identity.h"
#include "estimate/profile/profilers.h"
#include "estimate/profile/program_text.h"
#include "estimate/profile/whole.h"
#include "hardware/presets.h"

namespace hespas::estimate {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr double kDefaultMemoryShare = 0.8;  // of what is available
constexpr int kMostFailedStarts = 3;

// The worker stands beside this program, in the `bin` beside the data (of an installation or of the wheel), or in PATH.
std::string FindWorker() {
  constexpr const char* kName = "hespas_pjrt_worker";
  std::error_code error;
  std::vector<fs::path> folders = {ExecutablePath().parent_path()};
  if (const auto data = hardware::DataFolder()) folders.push_back(*data / "../../bin");
  for (const fs::path& folder : folders) {
    if (fs::exists(folder / kName, error)) return (folder / kName).string();
  }
  return FindProgram({kName});
}

// Shared libraries of the active Python environment that look like plugins, accelerators' first.
std::string FindPlugin() {
  constexpr const char* kScript =
      "import sys, glob\n"
      "for pattern in ('jax_plugins/*/*plugin*.so', 'libtpu/libtpu.so', '*/pjrt_c_api_*_plugin.so'):\n"
      "    for folder in sys.path:\n"
      "        print(*sorted(glob.glob(folder + '/' + pattern)), sep='\\n')";
  const auto found = RunProcess({"python3", "-c", kScript}, {}, std::chrono::seconds(20));
  if (!found || found->status != 0) return {};
  const size_t start = found->output.find('/');
  if (start == std::string::npos) return {};
  return found->output.substr(start, found->output.find('\n', start) - start);
}

int64_t AvailableMemory() {
  std::ifstream file("/proc/meminfo");
  std::string name, unit;
  for (int64_t kilobytes = 0; file >> name >> kilobytes >> unit;) {
    if (name == "MemAvailable:") return kilobytes << 10;
  }
  return int64_t{1} << 40;
}

class PjrtProfiler : public BlockProfiler {
 public:
  PjrtProfiler(std::vector<std::string> command, Environment environment, const ProfileOptions& options,
               std::chrono::milliseconds limit)
      : command_(std::move(command)), environment_(std::move(environment)), options_(options), limit_(limit) {}

  // The first worker: its greeting tells what measurements depend on.
  Status Open(const std::string& plugin) {
    const auto worker = Start(slots_[0]);
    if (!worker) return worker.error();
    if (options_.clock == "cpu" && greeting_.value("platform", "") != "cpu")
      return Failed("of its devices only wall time is known (--clock)");
    fingerprint_ = fmt::format("pjrt|4|{}|{}|{}|{}|{}|{}|{}", FileIdentity(plugin), greeting_.value("api", ""),
                               greeting_.value("platform", ""), greeting_.value("version", ""),
                               greeting_.value("device", ""), options_.cold ? "cold" : "warm", options_.clock);
    // "cpu" is the name of every processor there is.
    if (greeting_.value("platform", "") == "cpu") fingerprint_ += "|" + HostProcessor();
    if (options_.at_once > 1) fingerprint_ += fmt::format("|{} at once", options_.at_once);
    return {};
  }

  std::string platform() const { return greeting_.value("platform", ""); }
  std::string_view name() const override { return "pjrt"; }
  std::string Fingerprint() const override { return fingerprint_; }

  Status Compile(const BlockProgram& program, size_t slot) override {
    const auto answer = Ask("compile", program, slot);
    return answer ? Status() : Status(answer.error());
  }

  Result<Measured> Measure(const BlockProgram& program, size_t slot) override {
    const auto answer = Ask("time", program, slot);
    if (!answer) return answer.error();
    // What all computed is shared alike; the time that passed is that of each.
    const double devices = options_.clock == "cpu" ? program.replicas * program.partitions : 1;
    const double seconds = answer->value("seconds", -1.0) / devices;
    const double half_width = answer->value("half_width_s", 0.0) / devices;
    if (!(seconds >= 0) || !std::isfinite(seconds)) return Failed("it reported no time");
    constexpr double kHalfWidths = 1.96;  // of 95 %, in standard deviations
    const double overhead = answer->value("overhead_s", 0.0);
    // Where starting programs takes half of the time, the device may have waited for the host. No start takes as
    // long as the second figure: plugins that return when all is done are not waiting.
    constexpr double kHostBound = 0.5, kLongestStart = 2e-4;
    if (seconds < kLongestStart && answer->value("host_share", 0.0) > kHostBound)
      return Failed(fmt::format("it takes less than the {:.2g} us between two starts of it", 1e6 * seconds));
    return Measured{.seconds = std::max(0.0, seconds - overhead), .sigma_seconds = half_width / kHalfWidths};
  }

 private:
  struct Slot {
    std::optional<Worker> worker;
    int64_t asked = 0;
    int failed_starts = 0;  // in a row
  };

  static Error Failed(std::string message) { return MakeError(kMeasurementFailed, std::move(message)); }

  Status Start(Slot& slot) {
    if (slot.worker) return {};
    if (slot.failed_starts >= kMostFailedStarts) return Failed("the plugin can no longer be loaded");
    ++slot.failed_starts;
    auto worker = Worker::Start(command_, environment_);
    if (!worker) return worker.error();
    const auto line = worker->ReadLine(limit_);
    if (!line) return MakeError(kPluginUnusable, fmt::format("its worker failed: {}", line.error().message));
    const json greeting = ReadJson(*line);
    if (!greeting.is_object() || !greeting.value("ready", false)) {
      const std::string why = greeting.is_object() ? greeting.value("message", "") : *line;
      return MakeError(kPluginUnusable, why.empty() ? "no reason given" : why);
    }
    const std::lock_guard lock(mutex_);
    greeting_ = greeting;
    slot.worker = *std::move(worker);
    slot.failed_starts = 0;
    return {};
  }

  Slot& SlotAt(size_t index) {
    const std::lock_guard lock(mutex_);
    return slots_[index];
  }

  Result<json> Ask(std::string_view what, const BlockProgram& program, size_t index) {
    Slot& slot = SlotAt(index);
    if (const Status started = Start(slot); !started) return Failed(started.error().message);
    json arguments = json::array();
    for (const ProgramArgument& argument : program.arguments)
      arguments.push_back({{"element", argument.element}, {"shape", argument.shape}});
    const json request = {{"id", ++slot.asked},           {"do", what},
                          {"program", program.path},      {"arguments", arguments},
                          {"replicas", program.replicas}, {"partitions", program.partitions},
                          {"cold", options_.cold}};
    const Status written = slot.worker->WriteLine(JsonText(request));
    const auto line = written ? slot.worker->ReadLine(limit_) : Result<std::string>(written.error());
    const json answer = line ? ReadJson(*line) : json();
    if (answer.is_object() && answer.value("ok", false)) return answer;
    // A refusal is of the program; anything else is the worker's end.
    if (!answer.is_object() || answer.value("fatal", false)) slot.worker.reset();
    if (!line) return Failed(line.error().message);
    return Failed(answer.is_object() ? FirstLine(answer.value("message", "")) : "it answered nonsense");
  }

  static std::string FirstLine(const std::string& text) {
    constexpr size_t kMost = 200;
    return text.substr(0, std::min(text.find('\n'), kMost));
  }

  std::vector<std::string> command_;
  Environment environment_;
  ProfileOptions options_;
  std::chrono::milliseconds limit_;
  std::mutex mutex_;
  std::map<size_t, Slot> slots_;
  json greeting_;
  std::string fingerprint_;
};

Result<std::unique_ptr<PjrtProfiler>> Open(const ProfileOptions& options, std::chrono::milliseconds limit,
                                           Environment environment = {}) {
  const std::string plugin = options.plugin.empty() ? FindPlugin() : options.plugin;
  std::error_code error;
  if (plugin.empty() || !fs::exists(plugin, error)) {
    return MakeError(kNoPlugin, plugin.empty() ? "no PJRT plugin was found" : fmt::format("there is no `{}`", plugin),
                     {}, "name a plugin with --plugin");
  }
  const std::string worker = FindWorker();
  if (worker.empty()) return MakeError(kPluginUnusable, "hespas_pjrt_worker is neither beside hespas nor in PATH");
  const double bytes = options.memory_gib > 0 ? options.memory_gib * (1 << 30)
                                              : kDefaultMemoryShare * static_cast<double>(AvailableMemory());
  std::vector<std::string> command = {worker, "--plugin", plugin, "--memory",
                                      std::to_string(static_cast<int64_t>(bytes))};
  if (options.clock == "cpu") command.emplace_back("--cpu-clock");
  auto profiler = std::make_unique<PjrtProfiler>(std::move(command), std::move(environment), options, limit);
  if (const Status opened = profiler->Open(plugin); !opened) {
    return MakeError(kPluginUnusable, fmt::format("`{}` cannot be used: {}", plugin, opened.error().message), {},
                     "name another plugin with --plugin, or choose an analytic estimator");
  }
  return profiler;
}

// The program is partitioned already; XLA's partitioner would not take collectives that stand in it. A CPU has as many
// devices as it is told to have.
Environment EnvironmentFor(int devices) {
  if (devices == 1) return {};
  const char* given = std::getenv("XLA_FLAGS");
  return {{"XLA_FLAGS", fmt::format("{} --xla_force_host_platform_device_count={} "
                                    "--xla_disable_hlo_passes=spmd-partitioning,spmd-partitioner,spmd_partitioner",
                                    given == nullptr ? "" : given, devices)}};
}

graph::Block BlockOfMain(const ir::Module& module) {
  const ir::BlockId body = module.body(module.main());
  graph::Block block;
  block.ops = module.block(body).ops;
  for (const ir::ValueId value : module.operands(block.ops.back())) block.outputs.push_back(value);
  block.ops.pop_back();
  for (const ir::ValueId value : module.arguments(body)) block.inputs.push_back(value);
  return block;
}

}  // namespace

MadeProfiler MakePjrtProfiler(const ProfileOptions& options, std::chrono::milliseconds limit) {
  auto profiler = Open(options, limit, EnvironmentFor(options.at_once));
  if (!profiler) return profiler.error();
  return std::unique_ptr<BlockProfiler>(*std::move(profiler));
}

Result<MeasuredProgram> MeasureWhole(const ir::Module& module, int devices, const ProfileOptions& options,
                                     std::chrono::milliseconds limit) {
  const ScratchFolder folder;
  auto program = WriteBlockProgram(module, BlockOfMain(module), (folder.path() / "program.mlir").string(), true);
  if (!program) return program.error();
  program->partitions = devices;
  auto profiler = Open(options, limit, EnvironmentFor(devices));
  if (!profiler) return profiler.error();
  auto measured = (*profiler)->Measure(*program, 0);
  if (!measured) return measured.error();
  return MeasuredProgram{
      .time = *measured,
      .platform = fmt::format("{}, {} device{}", (*profiler)->platform(), devices, devices == 1 ? "" : "s")};
}

}  // namespace hespas::estimate
