// hespas._core: the C++ side of the Python package. Users see python/hespas/*.py.
#include <nanobind/nanobind.h>
#include <spdlog/spdlog.h>

#include "compare.h"
#include "errors.h"
#include "estimator.h"
#include "hardware.h"
#include "pipeline.h"
#include "program.h"

NB_MODULE(_core, m) {
  namespace python = hespas::python;
  spdlog::set_level(spdlog::level::warn);
  python::BindErrors(m);
  python::BindHardware(m);
  python::BindProgram(m);
  python::BindEstimators(m);
  python::BindPipeline(m);
  python::BindCompare(m);
}
