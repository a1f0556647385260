// What reports call a kernel: where it comes from and what it holds, "layers_3/attention matmul 4096x4096x128".
#pragma once

#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ir/module.h"
#include "report/step/op_labels.h"
#include "report/step/step_view.h"

namespace hespas::report {

// What a kernel holds, from its content alone: "matmul 4096x4096x128" (m, n, k), "batched matmul 32x...", "fused
// add·multiply f32[4096,1024]", "all-gather 58.7 MB" (of the full buffer), "reduce f32[1024]".
std::string ContentName(const ir::Module& module, ir::OpId op);

// The scope in front of the content; the content alone where the program has no names.
std::string KernelName(const ir::Module& module, ir::OpId op);

// Names of the kernels of a step, with the content looked at once for each distinct block.
class KernelNames {
 public:
  explicit KernelNames(const StepView& step) : step_(step), names_(step.blocks.module) {}

  // Of the op that gives the block its name; "" of a block without ops.
  std::string Of(size_t block);
  // Of the op at `index` of the block, layers of one stack together: "layers_*/attention matmul 4096x4096x128".
  // Equal names are one object.
  const std::string& GroupOf(size_t block, size_t index);
  // The op of a block that takes longest.
  size_t LongestOp(size_t block) const;

 private:
  const std::string& Content(size_t block, size_t index);

  std::string ScopeOf(size_t block, size_t index) const;

  const StepView& step_;
  const FrameworkNames names_;
  std::set<std::string> groups_;
  std::unordered_map<uint64_t, const std::string*> contents_;  // by distinct block and index of the op
};

}  // namespace hespas::report
