// Devices and systems: validation and presets.
#pragma once

#include <nanobind/nanobind.h>

namespace hespas::python {

void BindHardware(nanobind::module_& module);

}  // namespace hespas::python
