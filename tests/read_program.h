// Helpers: programs from text, which reading verifies.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "read/read.h"

namespace hespas {

inline ir::Module Read(const std::string& text) {
  Diagnostics diagnostics;
  auto module = read::ReadText("test.mlir", text, {}, diagnostics);
  if (!module) ADD_FAILURE() << Render(module.error());
  return module ? std::move(*module) : ir::Module();
}

}  // namespace hespas
