#include "driver/stages/program/export_tool.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <filesystem>

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

constexpr std::chrono::minutes kTimeLimit{30};  // with the installation of JAX

std::string LastLine(const std::string& output) {
  const size_t end = output.find_last_not_of(" \n");
  const size_t line = output.rfind('\n', end == std::string::npos ? 0 : end);
  return output.substr(line == std::string::npos ? 0 : line + 1, 2000);
}

// The text that the script makes, or why it made none.
Result<std::string> Make(const fs::path& script, const std::string& text, const std::vector<std::string>& arguments,
                         const DiagnosticKind& kind) {
  const std::string python = FindProgram({"python3"});
  std::error_code none;
  if (python.empty() || !fs::exists(script, none)) {
    return MakeError(kind, python.empty() ? "there is no python3" : fmt::format("there is no `{}`", script.string()));
  }
  const ScratchFolder work;
  const fs::path input = work.path() / "program.mlir";
  const fs::path output = work.path() / "made.mlir";
  if (const Status written = WriteFileAtomically(input, text); !written) return written.error();
  std::vector<std::string> words{python, script.string(), input.string(), output.string()};
  words.insert(words.end(), arguments.begin(), arguments.end());
  const auto done = RunProcess(words, "", kTimeLimit);
  if (!done) return done.error();
  if (done->timed_out) return MakeError(kind, fmt::format("it took longer than {} minutes", kTimeLimit.count()));
  if (done->status != 0) return MakeError(kind, LastLine(done->output));
  return ReadRaw(output.string());
}

}  // namespace

Result<ir::Module> MadeByExportTool(const std::string& script, const ir::Module& module,
                                    const std::vector<std::string>& arguments, const DiagnosticKind& kind,
                                    const std::string& remedy, Diagnostics& diagnostics) {
  const auto data = hardware::DataFolder();
  if (!data) return data.error();
  const fs::path python = data->parent_path() / "python";
  const std::string text = module.source().empty() ? ir::PrintGeneric(module) : std::string(module.source());
  const auto versions = ReadRaw((python / "locks" / "export.txt").string());
  const std::string key =
      Sha256Hex(fmt::format("{}\n{}\n{}\n{}", script, fmt::join(arguments, " "), versions ? *versions : "", text));
  const fs::path result = CacheFolder() / "exported" / (key + ".mlir");
  std::error_code none;
  if (!fs::exists(result, none)) {
    const auto made = Make(python / "export" / script, text, arguments, kind);
    if (!made) return MakeError(kind, made.error().message, {.file = module.path()}, remedy);
    if (const Status folder = MakeFolder(result.parent_path()); !folder) return folder.error();
    if (const Status kept = WriteFileAtomically(result, *made); !kept) return kept.error();
  }
  return read::ReadProgram(result.string(), {}, diagnostics);
}

}  // namespace hespas::driver
