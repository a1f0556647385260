#include "engines/simgrid_run.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "base/system/file.h"
#include "base/system/forked.h"
#include "base/system/scratch_folder.h"
#include "hardware/links/physical_topology.h"
#include "hardware/links/rank_mapping.h"
#include "report/export/simgrid_platform.h"
#include "report/export/smpi_traces.h"
#include "result/sim_result_json.h"
#include "simulate/check.h"
#include "simulate/engine/flow_engine.h"

namespace hespas::engines {
namespace {

namespace fs = std::filesystem;

inline constexpr DiagnosticKind kNoSimGrid{
    "E0961",
    "This build has no SimGrid engine, or its library `libhespas_simgrid.so` is not beside the programs. Install "
    "`libsimgrid-dev` and build again.",
    Outcome::kToolFailed};
inline constexpr DiagnosticKind kBadPlatform{
    "E0962", "SimGrid refused the platform file or a setting. The message is SimGrid's.", Outcome::kCannotRun};

constexpr const char* kLibrary = "libhespas_simgrid.so";

// Beside the program or in an installation's lib; otherwise the loader looks for it.
std::string LibraryPath() {
  std::error_code error;
  const fs::path folder = fs::read_symlink("/proc/self/exe", error).parent_path();
  for (const fs::path& path : {folder / kLibrary, folder.parent_path() / "lib/hespas" / kLibrary}) {
    if (fs::exists(path, error)) return path.string();
  }
  return kLibrary;
}

Result<simulate::MakeFlowEngine> LoadLibrary() {
  void* library = dlopen(LibraryPath().c_str(), RTLD_NOW | RTLD_LOCAL);
  void* symbol = library != nullptr ? dlsym(library, simulate::kMakeFlowEngine) : nullptr;
  if (symbol != nullptr) return reinterpret_cast<simulate::MakeFlowEngine>(symbol);
  return MakeError(kNoSimGrid, fmt::format("there is no SimGrid engine: {}", dlerror()), {},
                   "install libsimgrid-dev and build again, or use --network-backend analytical-aware");
}

Result<std::string> PlatformOf(const hardware::System& system, const simulate::SimulateOptions& options,
                               const SimGridOptions& simgrid) {
  if (!simgrid.platform.empty()) return ReadInput(simgrid.platform);
  if (simgrid.network.topology.empty()) {
    if (options.graph) return report::SimGridPlatform(*options.graph);
    return report::SimGridPlatform(hardware::TopologyOf(system), system);
  }
  const auto topology = hardware::ParseTopology(simgrid.network.topology, system);
  if (!topology) return topology.error();
  return report::SimGridPlatform(*topology, system);
}

struct Placed {
  std::unique_ptr<simulate::FlowEngine> engine;
  std::vector<std::string> hosts;  // of the ranks
};

// The engine with the ranks in their places.
Result<Placed> PlacedEngine(simulate::MakeFlowEngine make, const simulate::FlowNetwork& network,
                            const std::string& mapping, uint64_t ranks) {
  Placed placed{.engine = std::unique_ptr<simulate::FlowEngine>(make(network))};
  const std::vector<std::string> names = placed.engine->Hosts();
  const auto hosts = hardware::MapRanks(mapping, static_cast<uint32_t>(ranks), names);
  if (!hosts) return hosts.error();
  placed.engine->Place(*hosts);
  for (const uint32_t host : *hosts) placed.hosts.push_back(names[host]);
  return placed;
}

// What `work` makes of the engine, in a copy of this process: SimGrid aborts on platforms and settings that it does not
// like, and cannot be started twice.
Result<std::string> WithEngine(const simulate::FlowNetwork& network, const SimGridOptions& simgrid, uint64_t ranks,
                               const std::function<Result<std::string>(Placed&)>& work) {
  const Result<simulate::MakeFlowEngine> make = LoadLibrary();
  if (!make) return make.error();
  return RunForked(kBadPlatform, "SimGrid gave up", [&]() -> Result<std::string> {
    Result<Placed> placed = PlacedEngine(*make, network, simgrid.network.mapping, ranks);
    if (!placed) return placed.error();
    return work(*placed);
  });
}

std::string RunScript(size_t ranks, const SimGridOptions& simgrid) {
  std::string text = fmt::format(
      "#!/bin/sh\n# Prints \"Simulation time\" in seconds.\ncd \"$(dirname \"$0\")\" &&\nsmpirun -np {} -platform "
      "platform.xml -hostfile hosts.txt -replay traces.txt --log=xbt_cfg.thres:warning",
      ranks);
  for (const char* setting : report::kSmpiSettings) text += fmt::format(" --cfg={}", setting);
  for (const std::string& setting : simgrid.settings) text += fmt::format(" '--cfg={}'", setting);
  return text + "\n";
}

}  // namespace

Status WriteSmpi(const trace::TraceGraph& trace, const hardware::System& system,
                 const simulate::SimulateOptions& options, const SimGridOptions& simgrid) {
  const fs::path folder = simgrid.network.write_only;
  std::vector<std::pair<std::string, std::string>> files(1);
  std::string names;
  for (uint32_t rank = 0; rank < system.npus(); ++rank) {
    Result<std::string> text = report::SmpiTrace(trace, rank);
    if (!text) return text.error();
    files.emplace_back(fmt::format("rank.{}.txt", rank), *std::move(text));
    names += files.back().first + "\n";
  }
  const Result<std::string> platform = PlatformOf(system, options, simgrid);
  if (!platform) return platform.error();
  const ScratchFolder scratch;
  const simulate::FlowNetwork network{.platform = (scratch.path() / "platform.xml").string(),
                                      .settings = simgrid.settings};
  if (Status written = WriteFileAtomically(network.platform, *platform); !written) return written.error();
  Result<std::string> hosts = WithEngine(network, simgrid, system.npus(), [](Placed& placed) {
    return fmt::format("{}\n", fmt::join(placed.hosts, "\n"));
  });
  if (!hosts) return hosts.error();
  files[0] = {"hosts.txt", *std::move(hosts)};
  files.emplace_back("traces.txt", names);
  files.emplace_back("run.sh", RunScript(system.npus(), simgrid));
  files.emplace_back("platform.xml", *platform);
  if (Status made = MakeFolder(folder); !made) return made;
  for (const auto& [name, text] : files) {
    if (Status written = WriteFileAtomically((folder / name).string(), text); !written) return written;
  }
  return {};
}

Result<result::SimResult> RunSimGrid(const trace::TraceGraph& trace, const hardware::System& system,
                                     const simulate::SimulateOptions& options, const SimGridOptions& simgrid) {
  simulate::SimulateOptions carried = options;
  carried.graph.reset();
  if (Status checked = simulate::CheckInputs(trace, system, carried); !checked) return checked.error();
  const Result<std::string> platform = PlatformOf(system, options, simgrid);
  if (!platform) return platform.error();
  const ScratchFolder scratch;
  simulate::FlowNetwork network{.platform = (scratch.path() / "platform.xml").string(),
                                .settings = simgrid.settings,
                                .count_links = options.record_links};
  if (options.resolution == simulate::Resolution::kNanosecond) network.ticks_per_second = 1'000'000'000;
  if (Status written = WriteFileAtomically(network.platform, *platform); !written) return written.error();
  const Result<std::string> answer =
      WithEngine(network, simgrid, system.npus(), [&](Placed& placed) -> Result<std::string> {
        Result<result::SimResult> result = simulate::SimulateOver(*placed.engine, trace, system, carried);
        if (!result) return result.error();
        result->method = "SimGrid";
        return result::EncodeSimResult(*result);
      });
  if (!answer) return answer.error();
  return result::DecodeSimResult(*answer);
}

}  // namespace hespas::engines
