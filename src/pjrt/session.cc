#include "pjrt/session.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <ctime>

namespace hespas::pjrt {
namespace {

double Now(Clock clock) {
  timespec time{};
  clock_gettime(clock == Clock::kCpu ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// CompileOptionsProto { executable_build_options { num_replicas, num_partitions, use_spmd_partitioning } }, the two
// numbers below 128.
std::string CompileOptions(const Spread& spread) {
  const char several = spread.partitions > 1 ? 1 : 0;
  return {0x1A, 0x06,   0x20, static_cast<char>(spread.replicas), 0x28, static_cast<char>(spread.partitions),
          0x30, several};
}

// A program that hands on its first argument as often as asked for.
std::string Nothing(size_t arguments, size_t results) {
  std::string parameters = "%a0: tensor<f32>";
  for (size_t i = 1; i < arguments; ++i) parameters += fmt::format(", %a{}: tensor<f32>", i);
  const std::vector<std::string> values(results, "%a0"), types(results, "tensor<f32>");
  return fmt::format("func.func @main({}) -> ({}) {{ return {} : {} }}", parameters, fmt::join(types, ", "),
                     fmt::join(values, ", "), fmt::join(types, ", "));
}

// One that moves 256 MiB.
constexpr int64_t kSweepElements = int64_t{1} << 25;
constexpr const char* kSweep =
    R"(func.func @main(%a: tensor<33554432xf32>) -> tensor<33554432xf32> {
  %b = "stablehlo.negate"(%a) : (tensor<33554432xf32>) -> tensor<33554432xf32>
  return %b : tensor<33554432xf32>
})";

}  // namespace

// A loaded program with its arguments, on all devices that it runs on.
class Executable {
 public:
  explicit Executable(Plugin plugin) : plugin_(plugin) {}
  Executable(const Executable&) = delete;
  Executable& operator=(const Executable&) = delete;
  ~Executable() {
    for (const std::vector<CBuffer*>& list : inputs) Destroy(list);
    if (loaded == nullptr) return;
    CLoadedArguments arguments;
    arguments.executable = loaded;
    (void)plugin_.Call(kLoadedExecutableDestroy, arguments);
  }

  void Destroy(const std::vector<CBuffer*>& buffers) const {
    for (CBuffer* buffer : buffers) {
      if (buffer == nullptr) continue;
      CBufferArguments arguments;
      arguments.buffer = buffer;
      (void)plugin_.Call(kBufferDestroy, arguments);
    }
  }

  CLoadedExecutable* loaded = nullptr;
  size_t outputs = 0;
  std::vector<std::vector<CBuffer*>> inputs;  // [device][argument]

 private:
  Plugin plugin_;
};

namespace {

// Waits for what it tells, then destroys it.
Status Await(const Plugin& plugin, CEvent* event) {
  if (event == nullptr) return {};
  CEventArguments arguments;
  arguments.event = event;
  Status done = plugin.Call(kEventAwait, arguments);
  const Status destroyed = plugin.Call(kEventDestroy, arguments);
  return done ? destroyed : done;
}

Result<size_t> OutputCount(const Plugin& plugin, CLoadedExecutable* loaded) {
  CGetExecutableArguments get;
  get.loaded = loaded;
  if (const Status got = plugin.Call(kLoadedExecutableGetExecutable, get); !got) return got.error();
  CNumOutputsArguments count;
  count.executable = get.executable;
  const Status counted = plugin.Call(kExecutableNumOutputs, count);
  CExecutableArguments destroy;
  destroy.executable = get.executable;
  (void)plugin.Call(kExecutableDestroy, destroy);
  if (!counted) return counted.error();
  return count.count;
}

}  // namespace

double Overhead::Of(size_t arguments, size_t results) const {
  return base + per_argument * static_cast<double>(arguments) + per_result * static_cast<double>(results);
}

Result<Session> Session::Open(const std::string& path, Clock clock) {
  auto plugin = Plugin::Load(path);
  if (!plugin) return plugin.error();
  Session session(*plugin, clock);
  CClientCreateArguments create;
  if (const Status made = session.plugin_.Call(kClientCreate, create); !made) return made.error();
  session.client_ = create.client;
  if (const Status described = session.Describe(); !described) return described.error();
  return session;
}

Status Session::Describe() {
  CClientTextArguments text;
  text.client = client_;
  if (Status got = plugin_.Call(kClientPlatformName, text); !got) return got;
  platform_.name.assign(text.text, text.size);
  if (Status got = plugin_.Call(kClientPlatformVersion, text); !got) return got;
  platform_.version.assign(text.text, text.size);
  CDevicesArguments devices;
  devices.client = client_;
  if (Status got = plugin_.Call(kClientAddressableDevices, devices); !got) return got;
  devices_.assign(devices.devices, devices.devices + devices.count);
  platform_.devices = devices.count;
  if (devices.count == 0) return MakeError(kPluginFailed, "it has no device");
  CDescriptionArguments description;
  description.device = devices_[0];
  if (Status got = plugin_.Call(kDeviceGetDescription, description); !got) return got;
  CKindArguments kind;
  kind.description = description.description;
  if (Status got = plugin_.Call(kDeviceDescriptionKind, kind); !got) return got;
  platform_.device.assign(kind.text, kind.size);
  return {};
}

Result<std::shared_ptr<Executable>> Session::Compile(const Program& program) const {
  const auto devices = static_cast<size_t>(program.spread.devices());
  if (devices > devices_.size()) {
    return MakeError(kPluginFailed,
                     fmt::format("the program needs {} devices, {} has {}", devices, platform_.name, devices_.size()));
  }
  auto executable = std::make_shared<Executable>(plugin_);
  std::string code = program.code;
  constexpr std::string_view kFormat = "mlir";
  CProgram description;
  description.code = code.data();
  description.code_size = code.size();
  description.format = kFormat.data();
  description.format_size = kFormat.size();
  const std::string options = CompileOptions(program.spread);
  CCompileArguments compile;
  compile.client = client_;
  compile.program = &description;
  compile.options = options.data();
  compile.options_size = options.size();
  if (const Status compiled = plugin_.Call(kClientCompile, compile); !compiled) return compiled.error();
  executable->loaded = compile.executable;
  const auto outputs = OutputCount(plugin_, compile.executable);
  if (!outputs) return outputs.error();
  executable->outputs = *outputs;
  executable->inputs.resize(devices);
  for (const ArgumentType& type : program.arguments) {
    const auto values = ValuesOf(type);
    if (!values) return values.error();
    for (size_t device = 0; device < devices; ++device) {
      CFromHostArguments place;
      place.client = client_;
      place.data = values->bytes.data();
      place.type = values->type;
      place.dims = values->shape.data();
      place.dim_count = values->shape.size();
      place.device = devices_[device];
      if (const Status placed = plugin_.Call(kClientBufferFromHostBuffer, place); !placed) return placed.error();
      executable->inputs[device].push_back(place.buffer);
      if (const Status done = Await(plugin_, place.done); !done) return done.error();
    }
  }
  return executable;
}

// Results are let go as soon as they are queued: the device uses their memory again in the order of its work.
Status Session::Start(const Executable& executable, std::vector<CEvent*>& events) const {
  const size_t devices = executable.inputs.size();
  std::vector<CBuffer* const*> inputs;
  std::vector<std::vector<CBuffer*>> results(devices, std::vector<CBuffer*>(executable.outputs));
  std::vector<CBuffer**> outputs;
  for (size_t i = 0; i < devices; ++i) {
    inputs.push_back(executable.inputs[i].data());
    outputs.push_back(results[i].data());
  }
  CExecuteOptions options;
  CExecuteArguments execute;
  execute.executable = executable.loaded;
  execute.options = &options;
  execute.inputs = inputs.data();
  execute.device_count = devices;
  execute.input_count = executable.inputs[0].size();
  execute.outputs = outputs.data();
  std::vector<CEvent*> started(devices);
  execute.events = started.data();
  const Status run = plugin_.Call(kLoadedExecutableExecute, execute);
  if (!run) return run;
  events.insert(events.end(), started.begin(), started.end());
  for (const std::vector<CBuffer*>& list : results) executable.Destroy(list);
  return {};
}

Result<Session::Row> Session::Run(const Executable& executable, int times) const {
  std::vector<CEvent*> events;
  const double start = Now(clock_);
  Status run;
  for (int i = 0; run && i < times; ++i) run = Start(executable, events);
  const double started = Now(clock_);
  for (CEvent* event : events) {
    const Status done = Await(plugin_, event);
    if (run && !done) run = done;
  }
  if (!run) return run.error();
  return Row{.seconds = Now(clock_) - start, .starting_s = started - start};
}

Result<int> Session::RunsInARow(const Executable& executable) const {
  if (!queues()) return 1;
  constexpr double kRow = 2e-3;       // seconds; a hundred times what one wait costs
  constexpr double kLongestRow = 30;  // runs: XLA's GPU client lets 32 wait (LocalDeviceState) and blocks the host then
  const auto alone = Run(executable, 1);
  if (!alone) return alone.error();
  return static_cast<int>(std::clamp(kRow / std::max(alone->seconds, 1e-9), 1.0, kLongestRow));
}

Result<Timing> Session::Time(const Executable& executable, const Effort& effort, bool cold) {
  if (cold && sweep_ == nullptr) {
    auto made = Compile({.code = kSweep, .arguments = {{.element = "f32", .shape = {kSweepElements}}}});
    if (!made) return made.error();
    sweep_ = *std::move(made);
  }
  if (const auto first = Run(executable, 1); !first) return first.error();
  const auto row = cold ? Result<int>(1) : RunsInARow(executable);
  if (!row) return row.error();
  return TimeRows(executable, effort, cold, *row);
}

Result<Timing> Session::TimeRows(const Executable& executable, const Effort& effort, bool cold, int row) const {
  double starting = 0, all = 0;
  auto timing = Repeat(effort, [&]() -> Result<Repetition> {
    const double start = Now(clock_);
    if (cold) {
      if (const auto swept = Run(*sweep_, 1); !swept) return swept.error();
    }
    const auto taken = Run(executable, row);
    if (!taken) return taken.error();
    starting += taken->starting_s;
    all += taken->seconds;
    return Repetition{.seconds = taken->seconds / row, .spent_s = Now(clock_) - start};
  });
  if (!timing) return timing.error();
  timing->in_a_row = row;
  if (queues() && all > 0) timing->host_share = starting / all;
  return timing;
}

size_t Session::ResultCount(const Executable& executable) { return executable.outputs; }

Result<double> Session::TimeNothing(size_t arguments, size_t results) const {
  const std::vector<ArgumentType> types(arguments, {.element = "f32", .shape = {}});
  const auto nothing = Compile({.code = Nothing(arguments, results), .arguments = types});
  if (!nothing) return nothing.error();
  if (const auto first = Run(**nothing, 1); !first) return first.error();
  const auto timing = TimeRows(**nothing, {.least = 100}, false, 1);
  if (!timing) return timing.error();
  return timing->seconds;
}

Result<Overhead> Session::MeasureOverhead() {
  constexpr size_t kMany = 64;
  const auto one = TimeNothing(1, 1);
  const auto arguments = one ? TimeNothing(kMany, 1) : one;
  const auto results = arguments ? TimeNothing(1, kMany) : arguments;
  if (!results) return results.error();
  Overhead overhead{.per_argument = std::max(0.0, *arguments - *one) / (kMany - 1),
                    .per_result = std::max(0.0, *results - *one) / (kMany - 1)};
  overhead.base = std::max(0.0, *one - overhead.per_argument - overhead.per_result);
  return overhead;
}

}  // namespace hespas::pjrt
