#include "driver/stages/program/exact_optimiser.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "base/system/cache_folder.h"
#include "base/system/file.h"
#include "base/system/process.h"
#include "base/system/scratch_folder.h"
#include "base/text/digest.h"
#include "hardware/presets.h"
#include "ir/printer.h"
#include "read/read.h"

namespace hespas::driver {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::minutes kTimeLimit{15};
constexpr int64_t kMemoryLimitBytes = int64_t{32} << 30;  // address space; the plugin maps far more than it uses

// What the tutorial's training runs set: library matmuls, and how much is combined into one collective.
constexpr std::string_view kFlags[] = {
    "--flag=--xla_gpu_enable_triton_gemm=false",
    "--flag=--xla_gpu_enable_latency_hiding_scheduler=true",
    "--flag=--xla_gpu_all_reduce_combine_threshold_bytes=134217728",
    "--flag=--xla_gpu_all_gather_combine_threshold_bytes=134217728",
    "--flag=--xla_gpu_reduce_scatter_combine_threshold_bytes=67108864",
    "--flag=--xla_gpu_enable_all_gather_combine_by_dim=false",
    "--flag=--xla_gpu_enable_reduce_scatter_combine_by_dim=false",
    "--flag=--xla_disable_hlo_passes=rematerialization",
};

// HESPAS_XLA_PYTHON, or what `scripts/python_env.sh cuda` made.
fs::path FindPython() {
  if (const char* given = std::getenv("HESPAS_XLA_PYTHON"); given != nullptr && *given != '\0') return given;
  std::vector<fs::path> found;
  std::error_code none;
  for (const fs::directory_entry& entry : fs::directory_iterator(CacheFolder() / "python", none)) {
    const fs::path python = entry.path() / "bin" / "python";
    if (entry.path().filename().string().starts_with("cuda-") && fs::exists(entry.path() / "complete", none)) {
      found.push_back(python);
    }
  }
  return found.empty() ? fs::path() : *std::max_element(found.begin(), found.end());
}

Result<std::string> Run(std::vector<std::string> arguments, std::string_view what) {
  arguments.insert(arguments.begin(), {"prlimit", fmt::format("--as={}", kMemoryLimitBytes), "--"});
  auto done = RunProcess(arguments, "", kTimeLimit);
  if (!done) return done.error();
  if (done->timed_out)
    return MakeError(kXlaFailed, fmt::format("{} took longer than {} minutes", what, kTimeLimit.count()));
  if (done->status == 0) return std::move(done->output);
  const size_t end = done->output.find_last_not_of(" \n");
  const size_t line = done->output.rfind('\n', end == std::string::npos ? 0 : end);
  const std::string last = done->output.substr(line == std::string::npos ? 0 : line + 1);
  return MakeError(kXlaFailed, fmt::format("{} ended with status {}: {}", what, done->status, last.substr(0, 2000)), {},
                   "`hespas explain E0985` says more; --optimise xla-gpu needs no compiler");
}

// A partitioned program keeps the shardings of its arguments, but talks to its neighbours itself.
bool IsPartitioned(std::string_view text) {
  const auto has = [&](std::string_view part) { return text.find(part) != std::string_view::npos; };
  if (has("sdy.") || has("@Sharding") || has("@SPMDFullToShardShape")) return false;
  return !has("mhlo.sharding") || has("stablehlo.partition_id") || has("replica_groups") || has("source_target_pairs");
}

Status Compile(const std::string& python, const fs::path& script, const std::string& text, const std::string& target,
               const std::vector<std::string>& flags, const fs::path& result) {
  const ScratchFolder work;
  const fs::path program = work.path() / "program.mlir";
  const fs::path description = work.path() / "target.pbtxt";
  if (const Status status = WriteFileAtomically(program, text); !status) return status;
  if (const Status status = WriteFileAtomically(description, target); !status) return status;
  std::vector<std::string> command{python,
                                   script.string(),
                                   program.string(),
                                   "--target",
                                   description.string(),
                                   "--output",
                                   (work.path() / "out").string()};
  if (IsPartitioned(text)) command.emplace_back("--partitioned");
  command.insert(command.end(), flags.begin(), flags.end());
  if (const auto ran = Run(std::move(command), "XLA's compiler"); !ran) return ran.error();
  const auto hlo = ReadRaw((work.path() / "out" / "optimised.hlo").string());
  if (!hlo) return hlo.error();
  if (const Status status = MakeFolder(result.parent_path()); !status) return status;
  return WriteFileAtomically(result, *hlo);
}

}  // namespace

Result<ir::Module> OptimiseWithXla(const ir::Module& module, const hardware::Device& device,
                                   const std::vector<std::string>& flags, Diagnostics& diagnostics) {
  const auto data = hardware::DataFolder();
  if (!data) return data.error();
  const fs::path scripts = data->parent_path() / "python" / "export";
  const fs::path python = FindPython();
  if (python.empty() || !fs::exists(scripts / "xla_gpu.py")) {
    return MakeError(kNoXla, "no Python with XLA's CUDA compiler was found", {},
                     "run `scripts/python_env.sh cuda`, or set HESPAS_XLA_PYTHON");
  }
  const auto target = Run({python.string(), (scripts / "targets.py").string(), data->string(), device.name},
                          "the description of the target");
  if (!target) return target.error();
  const std::string text = module.source().empty() ? ir::PrintGeneric(module) : std::string(module.source());
  std::vector<std::string> all(std::begin(kFlags), std::end(kFlags));
  for (const std::string& flag : flags) all.push_back("--flag=" + flag);
  const std::string key = Sha256Hex(fmt::format("{}\n{}\n{}", fmt::join(all, " "), *target, text));
  const fs::path result = CacheFolder() / "xla" / (key + ".hlo");
  std::error_code none;
  if (!fs::exists(result, none)) {
    if (const Status status = Compile(python.string(), scripts / "xla_gpu.py", text, *target, all, result); !status) {
      return status.error();
    }
  }
  return read::ReadProgram(result.string(), {}, diagnostics);
}

}  // namespace hespas::driver
