#include "engines/astra_sim.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>
#include <string_view>

#include "base/system/file.h"
#include "base/system/process.h"
#include "base/system/scratch_folder.h"
#include "report/export/system_files.h"

namespace hespas::engines {
namespace {

namespace fs = std::filesystem;

inline constexpr DiagnosticKind kToolMissing{
    "E0922", "An external network simulator was asked for but not found. Install it, or give its path.",
    Outcome::kToolFailed};
inline constexpr DiagnosticKind kToolFailed{
    "E0923", "An external network simulator crashed, took too long or printed something unexpected.",
    Outcome::kToolFailed};
inline constexpr DiagnosticKind kToolStuck{"E0924", "An external network simulator ended before all NPUs finished.",
                                           Outcome::kCannotRun};

// The number that follows `key` in `line`.
std::optional<uint64_t> NumberAfter(std::string_view line, std::string_view key) {
  const size_t at = line.find(key);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view rest = line.substr(at + key.size());
  uint64_t value = 0;
  if (std::from_chars(rest.data(), rest.data() + rest.size(), value).ec != std::errc()) return std::nullopt;
  return value;
}

void ReadLine(std::string_view line, result::SimResult& result, std::vector<bool>& finished) {
  const auto id = NumberAfter(line, "sys[");
  if (!id || *id >= result.ranks.size()) return;
  result::RankResult& rank = result.ranks[*id];
  if (const auto ticks = NumberAfter(line, "] finished, "); ticks && !finished[*id]) {
    rank.finish = *ticks;
    rank.exposed = NumberAfter(line, "exposed communication ").value_or(0);
    result.order.push_back(static_cast<uint32_t>(*id));
    finished[*id] = true;
  }
  if (const auto ticks = NumberAfter(line, "], Wall time: ")) rank.wall = ticks;
  if (const auto ticks = NumberAfter(line, "], GPU time: ")) rank.gpu = ticks;
  if (const auto ticks = NumberAfter(line, "], Comm time: ")) rank.comm = ticks;
  if (const auto ticks = NumberAfter(line, "], Total compute-communication overlap: ")) rank.overlap = ticks;
}

std::string LastLine(const std::string& output) {
  const size_t end = output.find_last_not_of("\r\n");
  if (end == std::string::npos) return "nothing";
  const size_t start = output.rfind('\n', end);
  return output.substr(start == std::string::npos ? 0 : start + 1, std::min<size_t>(end - start, 300));
}

Result<std::string> FindBinary(const std::string& asked, simulate::Backend backend) {
  const bool aware = backend == simulate::Backend::kAware;
  const std::string name = aware ? "AstraSim_Analytical_Congestion_Aware" : "AstraSim_Analytical_Congestion_Unaware";
  if (asked.find('/') != std::string::npos) {
    std::error_code unused;
    if (fs::exists(asked, unused)) return fs::absolute(asked, unused).string();
    return MakeError(kToolMissing, fmt::format("there is no ASTRA-sim at `{}`", asked), {}, "check --astra-sim-binary");
  }
  const std::string found = FindProgram({asked.empty() ? name : asked});
  if (!found.empty()) return found;
  return MakeError(kToolMissing, fmt::format("`{}` is not in PATH", asked.empty() ? name : asked), {},
                   "install ASTRA-sim and give --astra-sim-binary PATH, or use --network-backend analytical");
}

std::vector<std::string> Arguments(const std::string& binary, const NetworkRunFiles& files,
                                   const simulate::SimulateOptions& options, const fs::path& scratch) {
  const auto absolute = [](const std::string& path) {
    std::error_code unused;
    return fs::absolute(path, unused).string();
  };
  return {binary,
          "--workload-configuration=" + absolute(files.workload),
          "--system-configuration=" + (scratch / "system.json").string(),
          "--network-configuration=" + (scratch / "network.yml").string(),
          "--remote-memory-configuration=" + (scratch / "remote_memory.json").string(),
          "--comm-group-configuration=" + (files.groups == "empty" ? files.groups : absolute(files.groups)),
          "--logging-folder=" + (scratch / "log").string(),
          fmt::format("--num-queues-per-dim={}", options.queues_per_dimension),
          fmt::format("--injection-scale={}", options.injection_scale),
          fmt::format("--rendezvous-protocol={}", options.rendezvous)};
}

Status WriteSystem(const hardware::System& system, const fs::path& scratch) {
  if (Status written = WriteFileAtomically(scratch / "system.json", report::SystemJson(system)); !written)
    return written;
  if (Status written = WriteFileAtomically(scratch / "network.yml", report::NetworkYaml(system)); !written)
    return written;
  return WriteFileAtomically(scratch / "remote_memory.json", report::RemoteMemoryJson(system));
}

}  // namespace

Result<result::SimResult> ReadAstraSimOutput(const std::string& output, uint64_t npus) {
  result::SimResult result;
  result.ranks.resize(npus);
  std::vector<bool> finished(npus);
  for (size_t at = 0; at < output.size();) {
    const size_t end = std::min(output.find('\n', at), output.size());
    ReadLine(std::string_view(output).substr(at, end - at), result, finished);
    at = end + 1;
  }
  result.method = "ASTRA-sim";
  if (result.order.size() == npus) return result;
  const auto stuck = static_cast<size_t>(std::find(finished.begin(), finished.end(), false) - finished.begin());
  return MakeError(kToolStuck,
                   fmt::format("ASTRA-sim ended, but {} of {} NPUs never finished, NPU {} first",
                               npus - result.order.size(), npus, stuck),
                   {}, "run with --network-backend analytical, which reports the node that waits and its cause");
}

Result<result::SimResult> RunAstraSim(const NetworkRunFiles& files, const hardware::System& system,
                                      const simulate::SimulateOptions& options, const AstraSimOptions& astra_sim) {
  const Result<std::string> binary = FindBinary(astra_sim.binary, options.backend);
  if (!binary) return binary.error();
  const ScratchFolder scratch;
  if (scratch.path().empty()) return MakeError(kToolFailed, "no temporary folder could be made");
  if (Status written = WriteSystem(system, scratch.path()); !written) return written.error();
  const Result<ProcessResult> run = RunProcess(Arguments(*binary, files, options, scratch.path()), "", astra_sim.limit);
  if (!run) return run.error();
  if (run->timed_out) {
    return MakeError(
        kToolFailed,
        fmt::format("ASTRA-sim was stopped after {} s", static_cast<double>(astra_sim.limit.count()) / 1000), {},
        "give a longer --timeout");
  }
  if (run->status != 0) {
    return MakeError(kToolFailed, fmt::format("ASTRA-sim ended with status {}: {}", run->status, LastLine(run->output)),
                     {}, "run with --network-backend analytical: it names the node and the cause");
  }
  return ReadAstraSimOutput(run->output, system.npus());
}

}  // namespace hespas::engines
