// One row a kernel of an optimised program: where it comes from, what it holds, moves and takes, and why it is one.
#pragma once

#include <vector>

#include "driver/inspect/kernels/kernel_summary.h"
#include "estimate/estimator.h"
#include "optimise/optimise.h"
#include "report/text/table.h"

namespace hespas::driver {

struct ExplainedKernels {
  const ir::Module& module;  // optimised with explanations, which number its kernels
  const Summary& summary;
  const std::vector<optimise::Explanation>& explanations;
  const estimate::Estimator& estimator;
};

// Kernels by the numbers of driver/inspect/kernels/kernel_ids.h.
// The longest first: kernel, layer, ops, bytes, time_us, reason.
report::Table ReasonTable(const ExplainedKernels& kernels);
// The longest first: number, kernel, bytes, flops, time_us, types.
report::Table KernelTable(const ExplainedKernels& kernels);

}  // namespace hespas::driver
