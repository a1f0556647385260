// `run` and `estimate`: the same driver calls that the command line makes.
#pragma once

#include <nanobind/nanobind.h>

namespace hespas::python {

void BindPipeline(nanobind::module_& module);

}  // namespace hespas::python
