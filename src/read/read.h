// Reads a program of any form into an ir::Module: StableHLO/MHLO text, HLO text, MLIR bytecode; gzip, zstd or plain.
//
// - The form is found from the content, never from the file's name.
// - Every defect found is in `diagnostics` with its line and column; the Result holds the first of them.
// - A program without `main` is no error here: stages that need it ask RequireMain.
#pragma once

#include <string>

#include "base/content.h"
#include "base/result.h"
#include "ir/module.h"

namespace hespas::read {

struct ReadOptions {
  bool verify = true;  // types, shapes and attributes of every op
};

// `path` may be "-" for standard input.
Result<ir::Module> ReadProgram(const std::string& path, const ReadOptions& options, Diagnostics& diagnostics);

// The same for content that is already in memory; `path` is only a name for messages.
Result<ir::Module> ReadText(std::string path, Content content, const ReadOptions& options, Diagnostics& diagnostics);

// The function where execution starts, or an error that names the functions there are.
Result<ir::OpId> RequireMain(const ir::Module& module);

}  // namespace hespas::read
