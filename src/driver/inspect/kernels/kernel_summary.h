// Counts kernels, bytes and collectives of a program as it is, optimised here or by XLA (`hespas optimise --format
// json`).
//
// - Kernels are fusions, library calls and other ops that launch something, in main and in executed loops and calls.
// - Bytes are what kernels read and write in memory; collectives and library workspaces are omitted.
// - Flops are 2*M*N*K of dots and convolutions; everything else is in elementwise_flops.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ir/module.h"

namespace hespas::driver {

enum class KernelSort : uint8_t { kFusion, kLibraryCall, kOther };

struct KernelSummary {
  KernelSort sort = KernelSort::kOther;
  ir::OpId op;
  int64_t bytes = 0;
  int64_t flops = 0;
};

struct CollectiveSummary {
  std::string op;  // "all-gather"
  int64_t count = 0;
  int64_t bytes = 0;  // full buffers: the larger of operands and results
};

struct Summary {
  std::vector<KernelSummary> kernels;  // program order
  int64_t fusions = 0;
  int64_t library_calls = 0;
  int64_t other = 0;
  int64_t flops = 0;
  int64_t elementwise_flops = 0;
  int64_t bytes_accessed = 0;
  std::vector<CollectiveSummary> collectives;  // by name

  int64_t total() const { return fusions + library_calls + other; }
};

Summary Summarise(const ir::Module& module);

// One JSON object, as the design of interfaces says for `hespas optimise --format json`.
std::string SummaryJson(const Summary& summary, const std::vector<std::string>& passes);

}  // namespace hespas::driver
