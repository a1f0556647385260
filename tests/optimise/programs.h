// Helpers: programs from text or file through the optimiser.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "../read_program.h"
#include "driver/inspect/kernels/kernel_summary.h"
#include "ir/verify/verify.h"
#include "optimise/optimise.h"

namespace hespas {

inline ir::Module Optimised(ir::Module module, const optimise::Options& options = {},
                            optimise::Report* report = nullptr) {
  Diagnostics diagnostics;
  auto result = optimise::Optimise(std::move(module), options, diagnostics, report);
  if (!result) ADD_FAILURE() << Render(result.error());
  if (!result) return {};
  Diagnostics defects;
  ir::Verify(*result, ir::Origin::kMlir, defects);
  for (const Diagnostic& defect : defects.all()) ADD_FAILURE() << Render(defect);
  return std::move(*result);
}

inline ir::Module Optimised(const std::string& text, const optimise::Options& options = {}) {
  return Optimised(Read(text), options);
}

// All passes up to one, but for some.
inline optimise::Options Until(const std::string& pass, std::vector<std::string> disabled = {}) {
  return {.disabled = std::move(disabled), .stop_after = pass};
}

// Names of main's ops in order, the terminator aside.
inline std::vector<std::string> Names(const ir::Module& module) {
  std::vector<std::string> names;
  for (const ir::OpId op : module.block(module.body(module.main())).ops) {
    if (!ir::IsTerminator(module.kind(op))) names.emplace_back(module.name(op));
  }
  return names;
}

}  // namespace hespas
