// The ways to measure blocks that ship, by the tools that they drive.
#pragma once

#include <chrono>
#include <memory>

#include "base/result.h"
#include "estimate/profile/block_profiler.h"
#include "estimate/profile/profile_options.h"

namespace hespas::estimate {

inline constexpr DiagnosticKind kNoPlugin{
    "E0594",
    "No PJRT plugin was found. Name one with --plugin, or install one into the Python environment whose python3 comes "
    "first in PATH: a CUDA or TPU plugin of JAX, or the CPU plugin of python/locks/pjrt.in.",
    Outcome::kToolFailed};
inline constexpr DiagnosticKind kPluginUnusable{
    "E0595",
    "The PJRT plugin could not be used: the message comes from the worker process that loaded it. Common causes "
    "are "
    "a library that is no plugin, an older C API, or a device that is missing or taken.",
    Outcome::kToolFailed};
inline constexpr DiagnosticKind kMeasurementFailed{"E0596",
                                                   "A block could not be compiled or run: the tool refused it, "
                                                   "crashed, took too long or too much memory, or printed no "
                                                   "time. The block is estimated by the fallback.",
                                                   Outcome::kToolFailed};

// `limit`: of compiling or of measuring one block.
using MadeProfiler = Result<std::unique_ptr<BlockProfiler>>;
MadeProfiler MakePjrtProfiler(const ProfileOptions& options, std::chrono::milliseconds limit);
MadeProfiler MakeXlaProfiler(const ProfileOptions& options, std::chrono::milliseconds limit);
MadeProfiler MakeIreeProfiler(const ProfileOptions& options, std::chrono::milliseconds limit);

}  // namespace hespas::estimate
