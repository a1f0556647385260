#include "engines/network_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "engines/astra_sim.h"
#include "engines/link_faults.h"
#include "engines/local_memory.h"
#include "engines/sst_run.h"
#include "hardware/cluster.h"
#include "hardware/presets.h"
#include "network/calibrated.h"
#include "network/ignored_settings.h"
#include "network/priced_run.h"
#include "read/chakra/chakra.h"
#include "simulate/check.h"
#include "simulate/explain.h"

namespace hespas::engines {
namespace {

namespace fs = std::filesystem;

inline constexpr DiagnosticKind kMissingOption{"E0920", "A command needs an option that was not given.",
                                               Outcome::kUsage};

bool StartsFiles(const std::string& prefix) {
  std::error_code unused;
  return fs::exists(prefix + ".0.et", unused);
}

// What is wrong where the system has more NPUs than there are traces.
std::optional<Error> MissingTraces(const std::string& prefix, const hardware::System& system) {
  std::error_code unused;
  const auto exists = [&](uint64_t rank) { return fs::exists(fmt::format("{}.{}.et", prefix, rank), unused); };
  const bool of_classes = fs::exists(prefix + ".ranks.json", unused);
  if (of_classes || !exists(0) || exists(system.npus() - 1)) return std::nullopt;
  uint64_t traces = 1;
  while (exists(traces)) ++traces;
  if (traces >= system.npus()) return std::nullopt;
  const bool one = traces == 1;
  return MakeError(
      hardware::kBadSystem,
      fmt::format("`{}` has {} NPUs, but there {} only {} trace{}", system.name, system.npus(), one ? "is" : "are",
                  traces, one ? "" : "s"),
      system.stated.counts_at,
      fmt::format("choose a system of {} NPU{}{}; there is no `{}.{}.et`", traces, one ? "" : "s",
                  system.stated.counts_at.file.empty() ? "" : " (the product of `npus_count`)", prefix, traces));
}

std::string Locate(const std::string& prefix, const std::string& folder) {
  if (StartsFiles(prefix) || folder.empty()) return prefix;
  const std::string beside = (fs::path(folder) / prefix).string();
  return StartsFiles(beside) ? beside : prefix;
}

Result<hardware::System> LoadEither(const NetworkRunFiles& files, std::string& folder, Diagnostics& diagnostics) {
  const hardware::LoadOptions options{.strict = files.strict};
  if (files.system.empty()) {
    if (files.system_files.system.empty() || files.system_files.network.empty()) {
      return MakeError(kMissingOption, "no system was given", {},
                       "give --system NAME, or --system-configuration and --network-configuration");
    }
    folder = fs::path(files.system_files.system).parent_path().string();
    return hardware::LoadSystem(files.system_files, options, diagnostics);
  }
  if (hardware::IsClusterText(files.system)) return hardware::ParseCluster(files.system, diagnostics);
  std::error_code unused;
  std::string path = files.system;
  if (!fs::is_directory(path, unused)) {
    const Result<fs::path> preset = hardware::FindPreset(hardware::PresetKind::kSystem, files.system);
    if (!preset) return preset.error();
    path = preset->string();
  }
  folder = fs::is_directory(path, unused) ? path : fs::path(path).parent_path().string();
  return hardware::LoadSystem(path, options, diagnostics);
}

// The same stage as that of `hespas run`: equal traces on an equal system take equal time, to the picosecond.
Result<result::SimResult> RunCalibrated(const NetworkRunFiles& files, const NetworkRun& run,
                                        const simulate::SimulateOptions& options, Diagnostics& diagnostics) {
  const std::string& name = files.device.empty() ? run.system.device : files.device;
  if (name.empty()) {
    return MakeError(kMissingOption, "the system names no device, whose links the calibrated model needs", {},
                     "give --device NAME; `hespas devices` lists them");
  }
  const auto device = hardware::LoadDevice(name, diagnostics);
  const auto& constants = network::DefaultNetworkConstants();
  if (!constants) return constants.error();
  if (!device) return MakeError(kMissingOption, fmt::format("the device `{}` cannot be read", name));
  if (auto fault = hardware::TcpFault(*device, run.system)) return *std::move(fault);
  auto faults = hardware::ParseLinkFaults(files.links, run.system);
  if (!faults) return faults.error();
  const network::CalibratedModel model(*device, run.system, *constants, *std::move(faults));
  model.WarnOfAssumptions(diagnostics);
  if (files.system.empty() || hardware::IsOwnDescription(files.system))
    network::WarnOfIgnoredSettings(run.system, diagnostics);
  auto simulated =
      network::SimulatePriced(run.trace, model, *device, files.concurrency,
                              {.record_nodes = options.record_nodes, .compute_scale = options.compute_scale});
  if (!simulated || !options.explain) return simulated;
  simulate::ExplainIntervals(run.trace, *simulated);
  network::ExplainPrices(run.trace, model, *simulated);
  return simulated;
}

// Our own traces keep durations below a nanosecond, which ASTRA-sim's cannot.
bool HasExactDurations(const trace::TraceGraph& trace) {
  for (const trace::Program& program : trace.programs) {
    for (const trace::Node& node : program.nodes) {
      if (node.duration.value % Time::Nanoseconds(1).value != 0) return true;
    }
  }
  return false;
}

void ToNanoseconds(result::SimResult& result) {
  const auto ticks_per_ns = static_cast<uint64_t>(Time::Nanoseconds(1).value / std::max<int64_t>(result.tick.value, 1));
  const auto scale = [&](uint64_t& ticks) { ticks = (ticks + ticks_per_ns / 2) / ticks_per_ns; };
  for (result::RankResult& rank : result.ranks) {
    scale(rank.finish);
    scale(rank.exposed);
    for (auto* ticks : {&rank.wall, &rank.gpu, &rank.comm, &rank.overlap}) {
      if (*ticks) scale(**ticks);
    }
  }
  for (result::NodeInterval& interval : result.intervals) {
    scale(interval.start);
    scale(interval.end);
  }
  for (result::CollectiveUse& use : result.collectives) {
    for (uint64_t* ticks : {&use.start, &use.end, &use.exposed, &use.waited}) scale(*ticks);
  }
  for (result::PathStep& step : result.critical_path) {
    scale(step.start);
    scale(step.end);
  }
  for (result::LinkUse& link : result.links) {
    scale(link.busy);
    scale(link.queued);
  }
  result.tick = Time::Nanoseconds(1);
}

}  // namespace

Status ReadCustomCollectives(hardware::System& system, const std::string& folder, trace::TraceGraph& trace) {
  std::set<std::string> prefixes;
  for (hardware::CollectiveSettings& collective : system.collectives) {
    if (collective.custom.empty()) continue;
    collective.custom = Locate(collective.custom, folder);
    prefixes.insert(collective.custom);
  }
  for (auto& [node, prefix] : system.custom_of_node) {
    prefix = Locate(prefix, folder);
    prefixes.insert(prefix);
  }
  for (const std::string& prefix : prefixes) {
    if (Status read = read::chakra::ReadCollective(prefix, static_cast<uint32_t>(system.npus()), trace); !read)
      return read;
  }
  return {};
}

Result<NetworkRun> ReadNetworkInputs(const NetworkRunFiles& files, Diagnostics& diagnostics) {
  if (files.workload.empty()) {
    return MakeError(kMissingOption, "no traces were given", {}, "give --workload-configuration PREFIX");
  }
  std::string folder;
  Result<hardware::System> system = LoadEither(files, folder, diagnostics);
  if (!system) return system.error();
  if (files.astra_sim) return NetworkRun{*std::move(system), {}, {}};
  if (auto fault = MissingTraces(files.workload, *system)) return *std::move(fault);
  Result<trace::TraceGraph> trace = read::chakra::ReadTraces(files.workload, static_cast<uint32_t>(system->npus()));
  if (!trace) return trace.error();
  if (Status read = read::chakra::ReadGroups(files.groups, *trace); !read) return read.error();
  if (Status whole = simulate::CheckGroups(*trace, system->npus(), files.groups); !whole) return whole.error();
  if (Status read = ReadCustomCollectives(*system, folder, *trace); !read) return read.error();
  return NetworkRun{*std::move(system), {}, *std::move(trace)};
}

Status WriteNetworkRun(const NetworkRunFiles& files, const simulate::SimulateOptions& options,
                       Diagnostics& diagnostics) {
  const Result<NetworkRun> run = ReadNetworkInputs(files, diagnostics);
  if (!run) return run.error();
  if (files.sst) return WriteSst(files, run->system, options, files.sst->network.write_only);
  return WriteSmpi(run->trace, run->system, options, *files.simgrid);
}

Result<NetworkRun> RunNetwork(const NetworkRunFiles& files, const simulate::SimulateOptions& options,
                              Diagnostics& diagnostics) {
  Result<NetworkRun> run = ReadNetworkInputs(files, diagnostics);
  if (!run) return run;
  simulate::SimulateOptions exact = options;
  if (!files.links.empty() && !files.calibrated) {
    const bool routes =
        !files.astra_sim && !files.sst && (files.simgrid || options.backend == simulate::Backend::kAware);
    if (!routes || options.graph) return NoFaultsHere();
    auto graph = GraphOf(files.links, run->system);
    if (!graph) return graph.error();
    exact.graph = *std::move(graph);
  }
  if (!files.log_folder.empty() && (run->system.trace_enabled || run->system.track_memory)) {
    exact.record_nodes = true;
    exact.engine = simulate::Engine::kEvents;  // one rank in the place of all has no intervals of the others
  }
  if (HasExactDurations(run->trace) || files.simgrid || files.sst) exact.resolution = simulate::Resolution::kPicosecond;
  Result<result::SimResult> simulated = files.astra_sim    ? RunAstraSim(files, run->system, options, *files.astra_sim)
                                        : files.calibrated ? RunCalibrated(files, *run, exact, diagnostics)
                                        : files.sst        ? RunSst(files, *run, exact)
                                        : files.simgrid
                                            ? RunSimGrid(run->trace, run->system, exact, *files.simgrid)
                                            : simulate::Simulate(run->trace, run->system, exact, diagnostics);
  if (!simulated) return simulated.error();
  run->result = *std::move(simulated);
  if (files.astra_sim || files.calibrated) return run;
  if (exact.resolution != options.resolution) ToNanoseconds(run->result);
  if (!files.log_folder.empty() && run->system.track_memory) {
    if (Status written = WriteLocalMemory(files, *run); !written) return written.error();
  }
  return run;
}

}  // namespace hespas::engines
