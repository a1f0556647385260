// What holds for a program of any form: it is read, or refused with at least one error that can be shown.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "read/read.h"

namespace hespas::fuzz {

inline int ReadAnyProgram(const uint8_t* data, size_t size) {
  Diagnostics diagnostics;
  const std::string content(reinterpret_cast<const char*>(data), size);
  const auto module = read::ReadText("program", content, {}, diagnostics);
  if (module.ok() == diagnostics.has_errors()) __builtin_trap();
  for (const Diagnostic& d : diagnostics.all()) Render(d);
  return 0;
}

}  // namespace hespas::fuzz
