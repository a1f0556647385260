// From diagnostics to Python exceptions: hespas.errors makes them, this raises them.
#pragma once

#include <nanobind/nanobind.h>

#include "base/diagnostic.h"
#include "base/result.h"

namespace hespas::python {

// (code, message, file, line, column, source line, help, exit status, rendered) of each.
nanobind::list AsPython(const Diagnostics& diagnostics, bool warnings);

// Raises the exception of the first error; the others are in its `errors`. Needs the GIL.
[[noreturn]] void Raise(const Diagnostics& diagnostics);
[[noreturn]] void Raise(const Error& error);

template <class T>
T Value(Result<T> result) {
  if (!result) Raise(result.error());
  return std::move(*result);
}

// Adds `error(code, message, help)`, which raises one of kKinds.
void BindErrors(nanobind::module_& module);

}  // namespace hespas::python
