#include "driver/stages/program/read.h"

#include "base/text/digest.h"
#include "driver/stages/program/bind.h"
#include "driver/stages/program/partition.h"
#include "driver/stages/take.h"
#include "optimise/optimise.h"
#include "read/read.h"

namespace hespas::driver {

std::optional<ir::Module> ReadModule(const std::string& path, std::string* sha256, Diagnostics& diagnostics) {
  auto raw = Take(ReadContent(path), diagnostics);
  if (!raw) return std::nullopt;
  return ReadModule(path, *std::move(raw), sha256, diagnostics);
}

std::optional<ir::Module> ReadModule(const std::string& path, Content content, std::string* sha256,
                                     Diagnostics& diagnostics) {
  if (sha256 != nullptr) *sha256 = Sha256Hex(content.view());
  auto text = Take(Decompress(std::move(content), path), diagnostics);
  if (!text) return std::nullopt;
  return Take(read::ReadText(path, std::move(*text), {}, diagnostics), diagnostics);
}

std::optional<ir::Module> ReadModule(const ProgramOptions& options, std::string* sha256, Diagnostics& diagnostics) {
  if (!options.content) return ReadModule(options.path, sha256, diagnostics);
  return ReadModule(options.path, Content(options.content, *options.content), sha256, diagnostics);
}

std::optional<ReadProgram> ReadProgramOf(const ProgramOptions& options, Diagnostics& diagnostics) {
  ReadProgram program;
  auto module = ReadModule(options, &program.sha256, diagnostics);
  if (!module) return std::nullopt;
  const auto main = Take(read::RequireMain(*module), diagnostics);
  if (!main) return std::nullopt;
  program.ops = static_cast<int64_t>(module->block(module->body(*main)).ops.size());
  module = Take(Bound(*std::move(module), options.bind, diagnostics), diagnostics);
  if (!module) return std::nullopt;
  module = Take(Partitioned(*std::move(module), options.partition, diagnostics), diagnostics);
  if (!module) return std::nullopt;
  if (const Status applied = Apply(options.assumptions, *module, diagnostics); !applied) {
    diagnostics.Report(applied.error());
    return std::nullopt;
  }
  program.scheduled = optimise::IsOptimised(*module);
  program.model_work = ModelWorkOf(*module, program.scheduled);
  program.module = *std::move(module);
  return program;
}

}  // namespace hespas::driver
