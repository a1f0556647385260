#include "engines/sst_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <numeric>

#include "base/system/file.h"
#include "base/system/process.h"
#include "base/system/scratch_folder.h"
#include "base/text/json.h"
#include "hardware/links/rank_mapping.h"
#include "report/export/chakra.h"
#include "report/export/simgrid_platform.h"
#include "report/export/sst_driver.h"
#include "report/export/system_files.h"
#include "report/export/trace_files.h"
#include "result/sim_result_json.h"
#include "simulate/check.h"
#include "simulate/explain.h"

namespace hespas::engines {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

inline constexpr DiagnosticKind kNoSst{
    "E0966",
    "SST, its Merlin elements or the element library `hespas` are not installed. Build sst-core and sst-elements from "
    "https://sst-simulator.org, put `sst-config` into PATH and build Hespas again; --write-only needs none of them.",
    Outcome::kToolFailed};
inline constexpr DiagnosticKind kSstFailed{"E0967", "SST failed, took too long or wrote no result.",
                                           Outcome::kToolFailed};
inline constexpr DiagnosticKind kSstStuck{
    "E0968", "An SST simulation ended before an NPU finished. The message comes from that NPU.", Outcome::kCannotRun};

std::string Absolute(const std::string& path) {
  std::error_code unused;
  return fs::absolute(path, unused).string();
}

// Where libhespas.so may be: beside the program or in an installation.
std::string ElementFolder() {
  std::error_code error;
  const fs::path folder = fs::read_symlink("/proc/self/exe", error).parent_path();
  for (const fs::path& path : {folder / "sst", folder.parent_path() / "lib/hespas/sst"}) {
    if (fs::exists(path / "libhespas.so", error)) return path.string();
  }
  return {};
}

std::string FindSst(const std::string& asked) {
  if (asked.find('/') == std::string::npos) return FindProgram({asked.empty() ? "sst" : asked});
  std::error_code unused;
  return fs::exists(asked, unused) ? Absolute(asked) : std::string();
}

std::vector<std::string> Command(const NetworkRunFiles& files, const std::string& sst, const std::string& folder) {
  std::vector<std::string> command;
  if (files.sst->processes > 1) {
    command = {"mpirun", "-np", std::to_string(files.sst->processes), "--allow-run-as-root", "--oversubscribe"};
  }
  command.push_back(sst);
  if (const std::string elements = ElementFolder(); !elements.empty()) command.push_back("--add-lib-path=" + elements);
  command.push_back(folder + "/sst.py");
  return command;
}

json RunJson(const NetworkRunFiles& files, const simulate::SimulateOptions& options) {
  return {{"workload", Absolute(files.workload)},
          {"groups", files.groups == "empty" ? files.groups : Absolute(files.groups)},
          {"queues", options.queues_per_dimension},
          {"injection_scale", options.injection_scale},
          {"rendezvous", options.rendezvous},
          {"record_nodes", options.record_nodes},
          {"compute_scale", options.compute_scale},
          {"noise", options.noise},
          {"seed", options.noise_seed},
          {"streams", options.communication_streams},
          {"separate_ids", options.separate_stream_ids}};
}

Result<report::MerlinNetwork> NetworkOf(const std::string& topology, const hardware::System& system) {
  if (topology.empty()) return report::MerlinNetworkOf(system);
  auto parsed = hardware::ParseTopology(topology, system);
  if (!parsed) return parsed.error();
  return report::MerlinNetwork{.topology = *std::move(parsed)};
}

std::string LastLines(const std::string& text) { return text.substr(text.size() - std::min<size_t>(text.size(), 600)); }

// Every rank's part of the answer in one.
Result<result::SimResult> Merge(const fs::path& folder, uint64_t npus) {
  result::SimResult all;
  for (uint64_t rank = 0; rank < npus; ++rank) {
    const auto text = ReadInput((folder / fmt::format("result.{}.json", rank)).string());
    if (!text) return MakeError(kSstFailed, fmt::format("SST wrote no result for NPU {}", rank));
    const json in = ReadJson(*text);
    if (in.is_object() && in.contains("error")) {
      return MakeError(kSstStuck, in["error"].get<std::string>(), {},
                       "run with --network-backend analytical, which reports the node that waits and its cause");
    }
    Result<result::SimResult> part = result::DecodeSimResult(*text);
    if (!part) return part.error();
    if (rank == 0) all.ranks.resize(npus);
    all.tick = part->tick;
    all.ranks[rank] = part->ranks.at(rank);
    all.messages += part->messages;
    all.events += part->events;
    all.intervals.insert(all.intervals.end(), part->intervals.begin(), part->intervals.end());
  }
  all.order.resize(npus);
  std::iota(all.order.begin(), all.order.end(), 0u);
  std::stable_sort(all.order.begin(), all.order.end(),
                   [&](uint32_t a, uint32_t b) { return all.ranks[a].finish < all.ranks[b].finish; });
  all.method = "SST";
  return all;
}

}  // namespace

Status WriteSst(const NetworkRunFiles& files, const hardware::System& system, const simulate::SimulateOptions& options,
                const std::string& folder) {
  const auto network = NetworkOf(files.sst->network.topology, system);
  if (!network) return network.error();
  const auto hosts = hardware::MapRanks(files.sst->network.mapping, static_cast<uint32_t>(system.npus()),
                                        report::HostNames(network->topology.hosts()));
  if (!hosts) return hosts.error();
  const std::string at = Absolute(folder);
  std::string script = "#!/bin/sh\nexec";
  for (const std::string& word : Command(files, "sst", at)) script += fmt::format(" '{}'", word);
  const std::map<std::string, std::string> texts = {{"run.json", JsonText(RunJson(files, options), 1) + "\n"},
                                                    {"sst.py", report::SstDriver(*network, at, *hosts)},
                                                    {"run.sh", script + "\n"},
                                                    {"system/system.json", report::SystemJson(system)},
                                                    {"system/network.yml", report::NetworkYaml(system)},
                                                    {"system/remote_memory.json", report::RemoteMemoryJson(system)}};
  if (Status made = MakeFolder(fs::path(at) / "system"); !made) return made;
  for (const auto& [name, text] : texts) {
    if (Status written = WriteFileAtomically(fs::path(at) / name, text); !written) return written;
  }
  return {};
}

Result<result::SimResult> RunSst(const NetworkRunFiles& files, const NetworkRun& inputs,
                                 const simulate::SimulateOptions& options) {
  if (Status checked = simulate::CheckInputs(inputs.trace, inputs.system, options); !checked) return checked.error();
  const std::string sst = FindSst(files.sst->binary);
  if (sst.empty()) {
    return MakeError(
        kNoSst, files.sst->binary.empty() ? "`sst` is not in PATH" : fmt::format("there is no `{}`", files.sst->binary),
        {},
        "build sst-core and sst-elements (https://sst-simulator.org), or see what would run: hespas simulate "
        "TRACES --network-backend sst --write-only DIR");
  }
  const ScratchFolder scratch;
  const std::string folder = scratch.path().string();
  if (Status written = WriteSst(files, inputs.system, options, folder); !written) return written.error();
  const Result<ProcessResult> run = RunProcess(Command(files, sst, folder), folder, files.sst->limit);
  if (!run) return run.error();
  if (run->output.find("can't find requested element") != std::string::npos ||
      run->output.find("No module named 'sst.merlin") != std::string::npos) {
    return MakeError(kNoSst, "SST lacks Merlin or the library `hespas`: " + LastLines(run->output), {},
                     "install sst-elements, and build Hespas with `sst-config` in PATH");
  }
  if (const auto failure = run->Failure(files.sst->limit)) {
    return MakeError(kSstFailed, fmt::format("SST {}: {}", *failure, LastLines(run->output)), {},
                     "a longer --timeout, or fewer and smaller collectives");
  }
  Result<result::SimResult> answer = Merge(folder, inputs.system.npus());
  if (answer && options.record_nodes && options.explain) simulate::ExplainIntervals(inputs.trace, *answer);
  return answer;
}

Result<result::SimResult> RunSstOn(const trace::TraceGraph& trace, const hardware::System& system,
                                   const simulate::SimulateOptions& options) {
  const ScratchFolder scratch;
  if (scratch.path().empty()) return MakeError(kSstFailed, "no temporary folder could be made");
  if (Status written = report::WriteTraceFiles(trace, scratch.path()); !written) return written.error();
  NetworkRunFiles files{.workload = (scratch.path() / "dev").string(), .sst = SstOptions{}};
  if (!trace.groups.empty()) {
    files.groups = (scratch.path() / "comm_group.json").string();
    if (Status written = WriteFileAtomically(files.groups, report::EncodeGroups(trace)); !written)
      return written.error();
  }
  return RunSst(files, {.system = system, .result = {}, .trace = trace}, options);
}

Status SstRun::WriteResult(uint32_t rank, const Result<result::SimResult>& result) const {
  const std::string text =
      result ? result::EncodeSimResult(*result) : JsonText(json{{"error", result.error().message}});
  return WriteFileAtomically(fs::path(folder) / fmt::format("result.{}.json", rank), text);
}

Result<SstRun> ReadSstRun(const std::string& file) {
  static std::mutex mutex;
  static std::map<std::string, SstRun> runs;
  const std::lock_guard<std::mutex> lock(mutex);
  if (const auto known = runs.find(file); known != runs.end()) return known->second;
  const Result<std::string> text = ReadInput(file);
  if (!text) return text.error();
  SstRun run;
  NetworkRunFiles files;
  try {
    const json in = ReadJsonOrThrow(*text);
    files.workload = in.at("workload");
    files.groups = in.at("groups");
    run.options = {.resolution = simulate::Resolution::kPicosecond,
                   .queues_per_dimension = in.at("queues"),
                   .injection_scale = in.at("injection_scale"),
                   .rendezvous = in.at("rendezvous"),
                   .record_nodes = in.at("record_nodes"),
                   .compute_scale = in.at("compute_scale").get<std::vector<double>>(),
                   .noise = in.at("noise"),
                   .noise_seed = in.at("seed"),
                   .communication_streams = in.at("streams"),
                   .separate_stream_ids = in.at("separate_ids")};
  } catch (const json::exception& error) {
    return MakeError(kSstFailed, fmt::format("`{}` is no run.json: {}", file, error.what()));
  }
  run.folder = fs::path(file).parent_path().string();
  files.system = run.folder + "/system";
  Diagnostics diagnostics;
  Result<NetworkRun> inputs = ReadNetworkInputs(files, diagnostics);
  if (!inputs) return inputs.error();
  run.inputs = std::make_shared<const NetworkRun>(*std::move(inputs));
  return runs.emplace(file, std::move(run)).first->second;
}

}  // namespace hespas::engines
