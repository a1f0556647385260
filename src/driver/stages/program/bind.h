// Sizes for the symbolic dimensions of a program (`--bind b=8`), by XLA's shape refinement
// (python/export/bind_dimensions.py).
#pragma once

#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "base/result.h"
#include "ir/module.h"

namespace hespas::driver {

inline constexpr DiagnosticKind kCannotBind{"E0959",
                                            "--bind gives sizes to the dynamic dimensions of a program's arguments: by "
                                            "the names that jax.export gave them (b=8), or "
                                            "by argument and dimension (0.1=128). It needs Python 3.11 and JAX, which "
                                            "it installs outside the tree on its first call.",
                                            Outcome::kUsage};

// The program with those sizes; the module itself where `sizes` is empty.
Result<ir::Module> Bound(ir::Module module, const std::vector<std::string>& sizes, Diagnostics& diagnostics);

}  // namespace hespas::driver
