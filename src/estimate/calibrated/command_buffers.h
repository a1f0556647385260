// Which kernels of a program for GPUs XLA launches as CUDA graphs: its command buffers, by the rule of
// command_buffer_conversion_pass.cc and the commands that debug_options_flags.cc allows in them.
//
// - A command buffer is a run of kernels and library matmuls in the order of the program. Collectives, convolutions,
//   loops, branches, transfers and other calls of libraries end it. Less than five stay single launches.
// - A loop is none itself; its body may hold some.
#pragma once

#include "estimate/calibrated/parameters.h"
#include "ir/module.h"

namespace hespas::estimate::calibrated {

// Of all launches of kernels that are no matmuls; the rest is launched one by one behind longer work.
struct CommandBuffers {
  double in_graph = 0;
};

CommandBuffers CommandBuffersOf(const ir::Module& module);

// us between a kernel that is no matmul and the one before it, in the mean over the program.
double BetweenUs(const StreamConstants& stream, const CommandBuffers& buffers);

}  // namespace hespas::estimate::calibrated
