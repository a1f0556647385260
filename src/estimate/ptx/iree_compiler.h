// iree-compile as a compiler from StableHLO to the kernels of a CUDA GPU and their launches; it needs no GPU.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "base/result.h"
#include "estimate/ptx/kernel_time.h"

namespace hespas::estimate::ptx {

inline constexpr DiagnosticKind kCompilerFailed{
    "E0579", "iree-compile refused a program, crashed, took too long, or wrote something else than PTX and launches.",
    Outcome::kToolFailed};

// What a program has its device do, in order: a launch of a kernel, or a copy or fill by the runtime.
struct Command {
  std::string name;
  std::string ptx;               // the text that holds the kernel; empty for copies and fills
  std::optional<Work> work;      // a launch
  double transferred_bytes = 0;  // read and written by a copy or fill
};

struct Compiler {
  std::string path;
  std::string version;  // as the program prints it
  std::chrono::milliseconds limit{60000};
};

// `path` empty: iree-compile of PATH.
Result<Compiler> FindCompiler(const std::string& path, std::chrono::milliseconds limit);

// The newest architecture that iree-compile 3.13 has tables for and that runs on `device`: "sm_80" for sm_80 itself.
std::string TargetOf(const hardware::Device& device);

Result<std::vector<Command>> Compile(const Compiler& compiler, const std::string& program, const std::string& target);

// The launches of a program in the form that `--compile-to=hal` prints.
struct Dispatch {
  std::string kernel;  // or "copy_buffer", "fill_buffer"
  Launch launch;       // grid and constants
  double bytes = 0;    // of its buffers, or transferred
};
std::vector<Dispatch> ReadDispatches(std::string_view hal);

}  // namespace hespas::estimate::ptx
