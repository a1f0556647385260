// A program that was read: its bytes, for the pipeline, and its module, for questions about it.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <string>

#include "ir/module.h"

namespace hespas::python {

struct Program {
  std::string name;  // path, or what the caller calls it
  std::shared_ptr<const std::string> content;
  std::string sha256;
  ir::Module module;
  Diagnostics diagnostics;  // warnings
};

void BindProgram(nanobind::module_& module);

}  // namespace hespas::python
