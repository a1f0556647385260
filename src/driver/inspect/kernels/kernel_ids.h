// Numbers of an optimised program's kernels, from 0 in program order: what `hespas optimise --explain` prints and
// `hespas explain PROGRAM kernel N` takes. Library calls and ops that launch something have one, too.
#pragma once

#include <optional>
#include <string>
#include <unordered_map>

#include "driver/inspect/kernels/kernel_summary.h"

namespace hespas::driver {

class KernelIds {
 public:
  // `module` is what `summary` was made of.
  KernelIds(const ir::Module& module, const Summary& summary);

  std::string Of(ir::OpId kernel) const { return std::to_string(numbers_.at(kernel.value)); }
  // Texts of the passes' explanations, which number kernels as fusion formed them.
  std::string Renumbered(const std::string& text) const;

 private:
  std::unordered_map<uint32_t, size_t> numbers_;       // by op
  std::unordered_map<std::string, size_t> as_formed_;  // by the number that fusion gave
};

}  // namespace hespas::driver
