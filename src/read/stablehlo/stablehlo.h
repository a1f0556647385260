// Reads StableHLO, MHLO, CHLO, SDY, func and generic MLIR text into an ir::Module.
//
// - One pass, no recursion over regions; attribute texts are views into `text`, which the module keeps.
// - Pretty forms leave the attributes of the generic form (see forms.h).
#pragma once

#include <string>

#include "base/content.h"
#include "base/result.h"
#include "ir/module.h"

namespace hespas::read {

Result<ir::Module> ReadStableHlo(std::string path, Content text, Diagnostics& diagnostics);

}  // namespace hespas::read
