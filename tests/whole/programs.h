// Helpers: programs from text, read and verified.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "ir/verify/verify.h"
#include "read/read.h"

namespace hespas {

inline ir::Module Read(const std::string& text) {
  Diagnostics diagnostics;
  auto module = read::ReadText("test.mlir", text, {}, diagnostics);
  if (!module) ADD_FAILURE() << Render(module.error());
  if (!module) return {};
  ir::Verify(*module, diagnostics);
  for (const Diagnostic& defect : diagnostics.all()) {
    if (!defect.is_warning()) ADD_FAILURE() << Render(defect);
  }
  return std::move(*module);
}

}  // namespace hespas
