// `--optimise xla`: XLA's own GPU compiler, ahead of time and without a GPU, in a worker process of its own.
//
// - The worker is python/export/xla_gpu.py in an environment that has JAX and the CUDA PJRT plugin; it has limits of
// time and memory.
// - Results are kept by the content of program, target description and flags; a LLaMA step takes 25 to 60 s the first
// time.
#pragma once

#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "base/result.h"
#include "hardware/device.h"
#include "ir/module.h"

namespace hespas::driver {

inline constexpr DiagnosticKind kNoXla{
    "E0984",
    "XLA's own compiler is not installed: no Python with JAX and the CUDA PJRT plugin "
    "was found. `scripts/python_env.sh cuda` installs one "
    "outside the tree (about 1 GB); HESPAS_XLA_PYTHON names another.",
    Outcome::kToolFailed};
inline constexpr DiagnosticKind kXlaFailed{
    "E0985", "XLA's own compiler refused the program, or went beyond its limits of time or memory.",
    Outcome::kToolFailed};

// `flags`, as XLA writes them, stand behind those of the tutorial and so replace them; passes that either disables stay
// off.
Result<ir::Module> OptimiseWithXla(const ir::Module& module, const hardware::Device& device,
                                   const std::vector<std::string>& flags, Diagnostics& diagnostics);

}  // namespace hespas::driver
