// The first stage: a program as it stands in its file, with what the user assumes about it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/content.h"
#include "base/diagnostic.h"
#include "driver/configuration/assumptions.h"
#include "driver/stages/program/model_work.h"
#include "ir/module.h"

namespace hespas::driver {

struct ProgramOptions {
  std::string path;
  std::shared_ptr<const std::string> content;  // where it is in memory; `path` then only names it
  Assumptions assumptions;
  std::vector<std::string> bind;  // sizes of symbolic dimensions, "b=8" (driver/stages/program/bind.h)
  bool partition = true;          // global programs, by XLA's partitioner (driver/stages/program/partition.h)
};

struct ReadProgram {
  ir::Module module;
  std::string sha256;
  int64_t ops = 0;         // of main
  bool scheduled = false;  // a compiler's result: its order is a schedule
  std::optional<ModelWork> model_work;
};

std::optional<ReadProgram> ReadProgramOf(const ProgramOptions& options, Diagnostics& diagnostics);

// The module alone; `sha256` may be null.
std::optional<ir::Module> ReadModule(const std::string& path, std::string* sha256, Diagnostics& diagnostics);
// The same for bytes that are in memory; `path` is only a name.
std::optional<ir::Module> ReadModule(const std::string& path, Content content, std::string* sha256,
                                     Diagnostics& diagnostics);
// From memory where it is there.
std::optional<ir::Module> ReadModule(const ProgramOptions& options, std::string* sha256, Diagnostics& diagnostics);

}  // namespace hespas::driver
