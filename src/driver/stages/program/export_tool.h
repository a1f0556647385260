// Programs that a Python program of python/export makes of others, in the environment that has JAX.
//
// - The environment is made on the first call (scripts/python_env.sh), outside the tree.
// - Results are kept by the content of the program, the arguments and the versions in the environment's lock file.
#pragma once

#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "base/result.h"
#include "ir/module.h"

namespace hespas::driver {

// What `python/export/SCRIPT PROGRAM OUTPUT ARGUMENTS...` writes, read again. Failures are of `kind`, with the last
// line that the script said.
Result<ir::Module> MadeByExportTool(const std::string& script, const ir::Module& module,
                                    const std::vector<std::string>& arguments, const DiagnosticKind& kind,
                                    const std::string& remedy, Diagnostics& diagnostics);

}  // namespace hespas::driver
