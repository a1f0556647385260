// `hespas simulate`: network simulation of existing traces, with ASTRA-sim's own options.
#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iterator>
#include <memory>
#include <sstream>

#include "base/system/file.h"
#include "cli/command.h"
#include "cli/format.h"
#include "cli/options/pipeline_options.h"
#include "cli/progress.h"
#include "engines/network_run.h"
#include "read/chakra/chakra.h"
#include "report/text/astra_sim_lines.h"
#include "report/text/simulation.h"

namespace hespas::cli {
namespace {

constexpr DiagnosticKind kBadValue{"E0921", "The value of an option is not of the form that it needs.",
                                   Outcome::kUsage};

struct Options {
  engines::NetworkRunFiles files;
  simulate::SimulateOptions simulate;
  std::string format = "table";
  std::string backend = "analytical";
  std::string model = "plain";
  std::string engine = "auto";
  std::string binary;
  double timeout = 600;
  std::string topology;
  engines::SimGridOptions simgrid;
  uint32_t sst_processes = 1;
  std::vector<std::string> slow;
  std::vector<std::string> failed;
  bool details = false;
  std::string show = "npus";
  std::string unused;  // accepted as ASTRA-sim accepts them
};

std::string Now() {
  const auto now = std::chrono::system_clock::now();
  const auto seconds = std::chrono::floor<std::chrono::seconds>(now);
  const auto rest = std::chrono::duration_cast<std::chrono::milliseconds>(now - seconds).count();
  return fmt::format("{:%Y-%m-%d %H:%M:%S}.{:03}", fmt::localtime(std::chrono::system_clock::to_time_t(now)), rest);
}

constexpr const char* kParts[] = {"npus", "links", "collectives", "critical-path"};

report::Table TableOf(const result::SimResult& result, const std::string& part) {
  if (part == "links") return report::LinkTable(result);
  if (part == "collectives") return report::CollectiveTable(result);
  if (part == "critical-path") return report::PathTable(result);
  return report::SimulationTable(result);
}

std::string Rendered(const engines::NetworkRun& run, const Options& options) {
  if (options.format == "json") return report::SimulationJson(run.result);
  if (options.format == "astra-sim") return report::AstraSimLines(run.result, run.system, Now());
  const Format format = FormatByName(options.format);
  if (!options.details) return RenderTable(TableOf(run.result, options.show), format);
  std::string text;
  for (const char* part : kParts) {
    if (!text.empty()) text += '\n';
    text += RenderTable(TableOf(run.result, part), format);
  }
  return text;
}

// log.log and err.log, as ASTRA-sim writes them.
Status WriteLogs(const engines::NetworkRun& run, const std::string& folder) {
  if (Status made = MakeFolder(folder); !made) return made;
  const std::string log = report::AstraSimLog(run.result, run.system, run.trace, Now());
  if (Status written = WriteFileAtomically(folder + "/log.log", log); !written) return written;
  std::string errors;
  std::istringstream lines(log);
  for (std::string line; std::getline(lines, line);) {
    if (line.find("] [critical] ") != std::string::npos) errors += line + "\n";
  }
  return WriteFileAtomically(folder + "/err.log", errors);
}

Status ReadBeyond(Options& options) {
  const auto bad = [](const std::string& text, const char* form) {
    return MakeError(kBadValue, fmt::format("`{}` is not of the form {}", text, form));
  };
  for (const std::string& slow : options.slow) {
    unsigned npu = 0;
    double factor = 0;
    if (std::sscanf(slow.c_str(), "%u=%lf", &npu, &factor) != 2 || npu > (1u << 28)) return bad(slow, "NPU=FACTOR");
    std::vector<double>& scale = options.simulate.compute_scale;
    if (scale.size() <= npu) scale.resize(npu + 1, 1.0);
    scale[npu] = factor;
  }
  for (const std::string& failed : options.failed) {
    unsigned from = 0;
    unsigned to = 0;
    const bool pair = std::sscanf(failed.c_str(), "%u-%u", &from, &to) == 2;
    if (pair && !options.files.calibrated && !options.files.simgrid) {
      options.simulate.failed_links.emplace_back(from, to);
    } else {
      options.files.links.failed.push_back(failed);
    }
  }
  if (options.topology.empty()) return {};
  Result<hardware::LinkGraph> graph = hardware::ReadLinkGraph(options.topology);
  if (!graph) return graph.error();
  options.simulate.graph = *std::move(graph);
  return {};
}

// Files that can be read but describe what cannot be built; where ASTRA-sim aborts, this command's status is 4.
bool DescribesNoSystem(const Diagnostics& diagnostics, const Error& error) {
  const auto is = [](const Diagnostic& d, const DiagnosticKind& kind) { return d.kind->code == kind.code; };
  if (is(error, read::chakra::kBadGroups)) return true;
  return std::any_of(diagnostics.all().begin(), diagnostics.all().end(),
                     [&](const Diagnostic& d) { return is(d, hardware::kBadSystem); });
}

void Run(Options& options, Console& console) {
  options.simulate.backend =
      options.backend.ends_with("-aware") ? simulate::Backend::kAware : simulate::Backend::kUnaware;
  options.simulate.engine = options.engine == "events"     ? simulate::Engine::kEvents
                            : options.engine == "symmetry" ? simulate::Engine::kSymmetry
                                                           : simulate::Engine::kAuto;
  if (options.backend.starts_with("astra-sim")) {
    options.files.astra_sim = {.binary = options.binary,
                               .limit = std::chrono::milliseconds(static_cast<int64_t>(options.timeout * 1000))};
  }
  options.files.calibrated = options.model == "calibrated";
  if (options.files.calibrated && options.backend != "analytical") {
    return console.Fail(MakeError(kBadValue,
                                  fmt::format("--network-model calibrated with --network-backend {}", options.backend),
                                  {}, "the calibrated model replaces the analytical backend only"));
  }
  if (!options.files.calibrated && !options.files.concurrency.IsDefault()) {
    return console.Fail(MakeError(
        kBadValue, "the plain network model knows no --collective-sms, --collective-memory or --collective-streams", {},
        "add --network-model calibrated, or leave them out"));
  }
  if (options.backend == "simgrid") options.files.simgrid = options.simgrid;
  if (Status read = ReadBeyond(options); !read) return console.Fail(read.error());
  if (options.backend == "sst") {
    options.files.sst = {.network = options.simgrid.network,
                         .binary = options.binary,
                         .processes = options.sst_processes,
                         .limit = std::chrono::milliseconds(static_cast<int64_t>(options.timeout * 1000))};
  }
  if ((options.files.simgrid || options.files.sst) && !options.simgrid.network.write_only.empty()) {
    const Status written = engines::WriteNetworkRun(options.files, options.simulate, console.diagnostics);
    const bool told = console.PrintDiagnostics();
    if (!written && !told) console.Fail(written.error());
    return;
  }
  const bool more = options.details || options.show != kParts[0];
  options.simulate.record_nodes = options.simulate.explain = options.simulate.record_links = more;
  ProgressLine progress(console.quiet);
  options.simulate.progress = &progress;
  const Result<engines::NetworkRun> run = engines::RunNetwork(options.files, options.simulate, console.diagnostics);
  progress.Clear();
  const bool impossible = !run && DescribesNoSystem(console.diagnostics, run.error());
  const bool told = console.PrintDiagnostics();
  if (run) {
    Print(Rendered(*run, options));
    if (options.files.log_folder.empty()) return;
    if (Status written = WriteLogs(*run, options.files.log_folder); !written) console.Fail(written.error());
  } else if (!told) {
    console.Fail(run.error());
  }
  if (impossible) console.exit_status = static_cast<int>(Outcome::kCannotRun);
}

void AddFileOptions(CLI::App& command, Options& options) {
  engines::NetworkRunFiles& files = options.files;
  command.add_option("--workload-configuration", files.workload, "prefix P of the traces P.<npu>.et")->required();
  command.add_option("--system", files.system, "system preset, folder or JSON file, in place of the next three");
  command.add_option("--system-configuration", files.system_files.system, "system.json");
  command.add_option("--network-configuration", files.system_files.network, "network.yml");
  command.add_option("--remote-memory-configuration", files.system_files.remote_memory, "remote_memory.json");
  command.add_option("--comm-group-configuration", files.groups,
                     "comm_group.json; a path with \"empty\" in it means no groups");
  command.add_flag("--strict", files.strict, "unknown keys in the system's files are errors");
}

// What ASTRA-sim lacks.
void AddBeyondOptions(CLI::App& command, Options& options) {
  const std::string group = "Beyond ASTRA-sim";
  simulate::SimulateOptions& simulate = options.simulate;
  command.add_option("--slow-npu", options.slow, "NPU=FACTOR: its compute takes FACTOR times as long")->group(group);
  command.add_option("--noise", simulate.noise, "relative standard deviation of compute durations")->group(group);
  command.add_option("--seed", simulate.noise_seed, "seed of the noise")->group(group);
  command.add_option("--comm-streams", simulate.communication_streams, "collectives and sends in flight at each NPU")
      ->check(CLI::Range(1, 1024))
      ->group(group);
  command
      .add_flag("--separate-stream-ids", simulate.separate_stream_ids,
                "match collectives of groups apart from those of all NPUs")
      ->group(group);
  command.add_option("--topology", options.topology, "JSON graph of links for analytical-aware")->group(group);
  command
      .add_option("--fail-link", options.failed,
                  "A-B: the link between two devices is down; RANK@DIMENSION: what joins a rank to a dimension")
      ->group(group);
  command
      .add_option("--slow-link", options.files.links.slow,
                  "RANK@DIMENSION=FACTOR or A-B=FACTOR: a link with less bandwidth")
      ->group(group);
}

void AddPhysicalOptions(CLI::App& command, Options& options) {
  const std::string group = "Physical networks (simgrid, sst)";
  engines::PhysicalNetwork& network = options.simgrid.network;
  command
      .add_option("--physical-topology", network.topology,
                  "switch, ring, torus:4x4x2, hyperx:4x4[:HOSTS], fat-tree:DOWN,UP:...:DOWN or "
                  "dragonfly:HOSTS,ROUTERS,GROUPS, with the links of the first dimension; default: the dimensions")
      ->group(group);
  command.add_option("--rank-mapping", network.mapping, "linear, random:SEED or a file with one host a line")
      ->group(group);
  command
      .add_option("--write-only", network.write_only,
                  "simulate nothing; write the input of smpirun or sst into this folder")
      ->group(group);
  command.add_option("--sst-processes", options.sst_processes, "processes of SST, under mpirun")
      ->check(CLI::Range(1, 4096))
      ->group(group);
  command.add_option("--platform", options.simgrid.platform, "SimGrid platform file in place of a topology")
      ->group(group);
  command.add_option("--simgrid-setting", options.simgrid.settings, "KEY:VALUE of SimGrid, as `network/model:LV08`")
      ->group(group);
}

void AddEngineOptions(CLI::App& command, Options& options) {
  command
      .add_option(
          "--network-backend", options.backend,
          "analytical (congestion-unaware), analytical-aware, an installed ASTRA-sim: astra-sim, astra-sim-aware; or "
          "simgrid (flows), sst (packets)")
      ->check(CLI::IsMember({"analytical", "analytical-aware", "astra-sim", "astra-sim-aware", "simgrid", "sst"}));
  command
      .add_option("--network-model", options.model,
                  "plain: every message, as ASTRA-sim does; calibrated: collectives as `hespas run` prices them")
      ->check(CLI::IsMember({"plain", "calibrated"}));
  AddConcurrencyOptions(command, options.files.concurrency);
  command.add_option("--device", options.files.device,
                     "of the calibrated model: whose links; default: the device that the system names");
  command.add_option("--astra-sim-binary,--sst-binary", options.binary, "path of ASTRA-sim or sst; default: in PATH");
  command.add_option("--tool-timeout", options.timeout, "seconds that ASTRA-sim or SST may take")
      ->check(CLI::Range(0.001, 1e7));
  command.add_flag("--details", options.details,
                   "adds the traffic of links, exposed communication of each collective and the critical path");
  command.add_option("--show", options.show, "which table: npus, links, collectives or critical-path")
      ->check(OneOf({std::begin(kParts), std::end(kParts)}));
  command.add_option("--logging-folder", options.files.log_folder,
                     "writes ASTRA-sim's log.log and err.log there; with trace-enabled each issue and completion, with "
                     "track-local-mem the memory of each NPU too");
  command
      .add_option("--engine", options.engine,
                  "auto; events: simulate every rank; symmetry: simulate one rank of each equivalence class")
      ->check(CLI::IsMember({"auto", "events", "symmetry"}));
  command.add_option("--num-queues-per-dim", options.simulate.queues_per_dimension, "queues in each network dimension")
      ->check(CLI::Range(1, 1 << 16));
  command.add_option("--injection-scale", options.simulate.injection_scale, "factor on endpoint-delay");
  command.add_option("--rendezvous-protocol", options.simulate.rendezvous, "a control message before each message");
  AddBeyondOptions(command, options);
  AddPhysicalOptions(command, options);
  for (const char* name : {"--logging-configuration", "--compute-scale", "--comm-scale"}) {
    command.add_option(name, options.unused, "accepted for compatibility with ASTRA-sim; no effect");
  }
}

}  // namespace

void AddSimulateCommand(CLI::App& app, Console& console) {
  CLI::App& command =
      AddCommand(app, console, "simulate", "simulates the network for existing traces",
                 "hespas simulate --workload-configuration out/dev --comm-group-configuration out/comm_group.json "
                 "--system A100_SXM_40GB_4GPU");
  auto options = std::make_shared<Options>();
  AddFileOptions(command, *options);
  AddEngineOptions(command, *options);
  command.add_option("--format", options->format, "what goes to stdout; astra-sim: the lines that ASTRA-sim prints")
      ->check(CLI::IsMember({"table", "json", "jsonl", "csv", "md", "astra-sim"}));
  command.callback([options, &console] { Run(*options, console); });
}

}  // namespace hespas::cli
