// Reads MLIR bytecode and StableHLO portable artifacts ("ML\xefR...") into an ir::Module.
#pragma once

#include <string>

#include "base/result.h"
#include "ir/module.h"

namespace hespas::read {

Result<ir::Module> ReadBytecode(std::string path, std::string content, Diagnostics& diagnostics);

}  // namespace hespas::read
