#include "estimate/ptx/kernel_simulator.h"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "base/system/file.h"
#include "base/system/process.h"
#include "base/system/scratch_folder.h"
#include "base/text/digest.h"
#include "base/text/json.h"
#include "estimate/external/tool_call.h"
#include "estimate/external/tool_model.h"

namespace hespas::estimate::ptx {
namespace {

// The number behind the last of the keys in the output.
std::optional<double> CyclesIn(const std::string& output) {
  for (const std::string_view key : {"gpu_tot_sim_cycle =", "\"cycles\":"}) {
    const size_t at = output.rfind(key);
    if (at == std::string::npos) continue;
    const char* digits = output.c_str() + at + key.size();
    char* end = nullptr;
    const double value = std::strtod(digits, &end);
    if (end != digits && std::isfinite(value) && value >= 0) return value;
  }
  return std::nullopt;
}

}  // namespace

Result<KernelSimulator> FindKernelSimulator(const std::string& path, std::chrono::milliseconds limit) {
  auto program = FindTool(path, path);
  if (!program) return program.error();
  const auto content = ReadRaw(*program);
  if (!content) return content.error();
  return KernelSimulator{.path = *std::move(program), .digest = Sha256Hex(*content), .limit = limit};
}

Result<double> SimulateCycles(const KernelSimulator& simulator, const std::string& ptx, const KernelTime& kernel,
                              const std::string& target, double buffer_bytes) {
  const ScratchFolder scratch;
  const nlohmann::json launch = {{"kernel", kernel.kernel},       {"grid", kernel.grid},
                                 {"block", kernel.block},         {"shared_memory", kernel.shared_bytes},
                                 {"registers", kernel.registers}, {"target", target},
                                 {"buffer_bytes", buffer_bytes}};
  if (Status written = WriteFileAtomically(scratch.path() / "kernel.ptx", ptx); !written) return written.error();
  if (Status written = WriteFileAtomically(scratch.path() / "launch.json", JsonText(launch, 2) + "\n"); !written) {
    return written.error();
  }
  const auto run = RunProcess({simulator.path, "kernel.ptx", "launch.json"}, scratch.path().string(), simulator.limit);
  if (!run) return run.error();
  if (const auto failure = run->Failure(simulator.limit)) {
    return MakeError(kKernelSimulatorFailed, fmt::format("the kernel simulator {}: {}", *failure, Tail(run->output)));
  }
  if (const auto cycles = CyclesIn(run->output)) return *cycles;
  return MakeError(kKernelSimulatorFailed,
                   fmt::format("the kernel simulator printed no cycles: {}", Tail(run->output)));
}

}  // namespace hespas::estimate::ptx
