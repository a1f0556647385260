#include "estimate/ptx/iree_compiler.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "base/system/file.h"
#include "base/system/process.h"
#include "base/system/scratch_folder.h"
#include "estimate/external/tool_call.h"
#include "estimate/external/tool_model.h"

namespace hespas::estimate::ptx {
namespace {

namespace fs = std::filesystem;

constexpr int kTargets[] = {60, 70, 75, 80, 86, 89};

struct PtxFile {
  std::string text;
  std::vector<Kernel> kernels;
};

Result<std::vector<PtxFile>> ReadPtxFiles(const fs::path& folder) {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".ptx") paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<PtxFile> files;
  for (const fs::path& path : paths) {
    auto text = ReadRaw(path.string());
    if (!text) return text.error();
    auto kernels = ReadPtx(*text, path.filename().string());
    if (!kernels) return kernels.error();
    files.push_back({*std::move(text), *std::move(kernels)});
  }
  return files;
}

Result<Command> CommandOf(const Dispatch& dispatch, const std::vector<PtxFile>& files) {
  if (dispatch.kernel == "copy_buffer" || dispatch.kernel == "fill_buffer") {
    return Command{.name = dispatch.kernel, .transferred_bytes = dispatch.bytes};
  }
  for (const PtxFile& file : files) {
    for (const Kernel& kernel : file.kernels) {
      if (kernel.name != dispatch.kernel) continue;
      Work work{.kernel = kernel, .launch = dispatch.launch, .buffer_bytes = dispatch.bytes};
      work.launch.block = kernel.block.value_or(Extent{kWarp, 1, 1});
      return Command{.name = kernel.name, .ptx = file.text, .work = std::move(work)};
    }
  }
  return MakeError(kCompilerFailed,
                   fmt::format("iree-compile launches `{}` but wrote no such kernel", dispatch.kernel));
}

}  // namespace

Result<Compiler> FindCompiler(const std::string& path, std::chrono::milliseconds limit) {
  auto program = FindTool(path, "iree-compile");
  if (!program) return program.error();
  const auto run = RunProcess({*program, "--version"}, "", limit);
  if (!run) return run.error();
  if (const auto failure = run->Failure(limit)) {
    return MakeError(kCompilerFailed, fmt::format("`{} --version` {}: {}", *program, *failure, Tail(run->output)));
  }
  return Compiler{.path = *std::move(program), .version = Tail(run->output, 400), .limit = limit};
}

std::string TargetOf(const hardware::Device& device) {
  int wanted = 0;
  const std::string& text = device.architecture;
  if (text.starts_with("sm_")) std::from_chars(text.data() + 3, text.data() + text.size(), wanted);
  int best = kTargets[0];
  for (const int target : kTargets) best = target <= wanted ? target : best;
  // Beyond the tables: the last of the data-center line, as 86 and 89 have other shared memories.
  return fmt::format("sm_{}", wanted > kTargets[5] ? 80 : best);
}

Result<std::vector<Command>> Compile(const Compiler& compiler, const std::string& program, const std::string& target) {
  const ScratchFolder scratch;
  const fs::path& folder = scratch.path();
  if (Status written = WriteFileAtomically(folder / "op.mlir", program); !written) return written.error();
  const auto run = RunProcess({compiler.path, "op.mlir", "--iree-input-type=stablehlo", "--iree-hal-target-device=cuda",
                               "--iree-cuda-target=" + target, "--iree-hal-dump-executable-intermediates-to=.",
                               "--iree-hal-dump-executable-binaries-to=.", "--compile-to=hal", "-o", "hal.mlir"},
                              folder.string(), compiler.limit);
  if (!run) return run.error();
  if (const auto failure = run->Failure(compiler.limit)) {
    const size_t at = run->output.find("error: ");
    const std::string said =
        at == std::string::npos ? Tail(run->output) : run->output.substr(at + 7, run->output.find('\n', at) - at - 7);
    return MakeError(kCompilerFailed, fmt::format("iree-compile {}: {}", *failure, said.substr(0, 200)));
  }
  const auto hal = ReadRaw((folder / "hal.mlir").string());
  if (!hal) return MakeError(kCompilerFailed, "iree-compile wrote no launches");
  const auto files = ReadPtxFiles(folder);
  if (!files) return files.error();
  std::vector<Command> commands;
  for (const Dispatch& dispatch : ReadDispatches(*hal)) {
    auto command = CommandOf(dispatch, *files);
    if (!command) return command.error();
    commands.push_back(*std::move(command));
  }
  return commands;
}

}  // namespace hespas::estimate::ptx
