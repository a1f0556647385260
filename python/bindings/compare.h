// Runs side by side: what `hespas compare` shows.
#pragma once

#include <nanobind/nanobind.h>

namespace hespas::python {

void BindCompare(nanobind::module_& module);

}  // namespace hespas::python
