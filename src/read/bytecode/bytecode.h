// Reads MLIR bytecode and StableHLO portable artifacts ("ML\xefR...") into an ir::Module.
//
// - Bytecode versions 0 to 6; portable artifacts (VHLO) 0.9 to 1.20; newer ones as far as they hold nothing unknown.
// - Ops keep their names ("vhlo.add_v1"); their types and attributes are those of builtin and StableHLO.
// - A damaged or cut-off file is an error (E03xx) that says where; nothing outside the file's bytes is ever read.
#pragma once

#include <string>

#include "base/content.h"
#include "base/result.h"
#include "ir/module.h"

namespace hespas::read {

Result<ir::Module> ReadBytecode(std::string path, Content text, Diagnostics& diagnostics);

}  // namespace hespas::read
