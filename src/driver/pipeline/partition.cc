#include "driver/pipeline/partition.h"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <vector>

#include "base/system/cache_folder.h"
#include "base/system/file.h"
#include "base/system/process.h"
#include "base/system/scratch_folder.h"
#include "base/text/hash.h"
#include "hardware/presets.h"
#include "ir/facts/shardings.h"
#include "ir/printer.h"
#include "read/read.h"
#include "transform/unwrap_manual.h"

namespace hespas::driver {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::minutes kTimeLimit{30};  // with the installation of JAX
constexpr const char* kRemedy =
    "`hespas export` writes what each device runs; `hespas shard --mesh AXIS=SIZE,...` partitions and estimates";

Error Refused(const ir::Module& module, std::string why) {
  return MakeError(kNotPartitioned, std::move(why), {.file = module.path()}, kRemedy);
}

std::string LastLine(const std::string& output) {
  const size_t end = output.find_last_not_of(" \n");
  const size_t line = output.rfind('\n', end == std::string::npos ? 0 : end);
  return output.substr(line == std::string::npos ? 0 : line + 1, 2000);
}

// The lock file of the environment that partitions: another JAX makes another program.
std::string LockedVersions() {
  const auto data = hardware::DataFolder();
  const auto lock = data ? ReadRaw((data->parent_path() / "python" / "locks" / "export.txt").string()) : data.error();
  return lock ? *lock : "";
}

// Runs XLA's partitioner on `text`; the result appears whole in `result` or not at all.
Status Partition(const ir::Module& module, const std::string& text, int64_t devices, const fs::path& result) {
  const auto data = hardware::DataFolder();
  if (!data) return data.error();
  const fs::path script = data->parent_path() / "python" / "export" / "partition_program.py";
  const std::string python = FindProgram({"python3"});
  std::error_code none;
  if (python.empty() || !fs::exists(script, none)) {
    return Refused(module,
                   "the program's shardings have not been applied, and there is no Python to run XLA's partitioner");
  }
  const ScratchFolder work;
  const fs::path input = work.path() / "program.mlir";
  const fs::path output = work.path() / "partitioned.mlir";
  if (const Status written = WriteFileAtomically(input, text); !written) return written;
  const auto done =
      RunProcess({python, script.string(), input.string(), output.string(), std::to_string(devices)}, "", kTimeLimit);
  if (!done) return done.error();
  if (const auto failure = done->Failure(kTimeLimit)) {
    return Refused(module, fmt::format("XLA's partitioner {}: {}", *failure, LastLine(done->output)));
  }
  const auto made = ReadRaw(output.string());
  if (!made) return made.error();
  if (const Status folder = MakeFolder(result.parent_path()); !folder) return folder;
  return WriteFileAtomically(result, *made);
}

}  // namespace

Result<ir::Module> Partitioned(ir::Module module, bool allowed, Diagnostics& diagnostics) {
  if (!ir::AwaitsPartitioner(module) || transform::UnwrapManual(module)) return module;
  if (!allowed) return Refused(module, "the program's shardings have not been applied");
  const int64_t devices = ir::DevicesOf(module);
  const std::string text = module.source().empty() ? ir::PrintGeneric(module) : std::string(module.source());
  const fs::path result = CacheFolder() / "partitioned" / (Sha256Hex(LockedVersions() + text) + ".mlir");
  std::error_code none;
  if (!fs::exists(result, none)) {
    if (const Status made = Partition(module, text, devices, result); !made) return made.error();
  }
  diagnostics.Warning(kPartitionedHere,
                      fmt::format("the program is global: XLA's partitioner divided it among {} devices", devices),
                      {.file = module.path()});
  return read::ReadProgram(result.string(), {}, diagnostics);
}

}  // namespace hespas::driver
