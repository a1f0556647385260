// Reads a profiler's trace in the JSON form of chrome://tracing: XProf's (JAX, *.trace.json.gz) and Kineto's (PyTorch).
//
// - Operations are events that name an `hlo_op`, are on a device's "XLA Ops" or stream lines, or are Kineto's kernels,
//   copies and fills. Of several devices the busiest is taken.
// - Steps are Kineto's ProfilerStep annotations (a kernel belongs to the one that launched it), a device's "Steps"
//   line or runs of its longest module, JAX's StepTraceAnnotation or calls of its longest function; else all is one
//   step. A step lasts until the next one begins; the median one is taken.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "trace/measured_step.h"

namespace hespas::read {

inline constexpr DiagnosticKind kNoProfile{
    "E0994",
    "The file is no profiler trace with device operations. `hespas compare RESULT --measured` reads the trace.json.gz "
    "that jax.profiler writes (below plugins/profile) and what torch.profiler exports by export_chrome_trace."};

// `text` is decompressed; `file` only names it.
Result<trace::MeasuredStep> ReadProfile(std::string_view text, const std::string& file);

}  // namespace hespas::read
