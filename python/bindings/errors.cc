#include "errors.h"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <iterator>

#include "kinds.h"

namespace nb = nanobind;

namespace hespas::python {
namespace {

// Program texts may hold any bytes; messages must not fail over them.
nb::object Text(std::string_view text) {
  return nb::steal(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace"));
}

nb::tuple AsTuple(const Diagnostic& d) {
  const Location& at = d.location;
  return nb::make_tuple(Text(d.kind->code), Text(d.message), Text(at.file), at.line, at.column, Text(at.source_line),
                        Text(d.help), static_cast<int>(d.kind->outcome), Text(Render(d)));
}

void RaiseByCode(const std::string& code, std::string message, std::string help) {
  const auto kind = std::find_if(std::begin(kKinds), std::end(kKinds), [&](const auto* k) { return k->code == code; });
  if (kind == std::end(kKinds)) throw nb::value_error("no such code");
  Raise(MakeError(**kind, std::move(message), {}, std::move(help)));
}

}  // namespace

nb::list AsPython(const Diagnostics& diagnostics, bool warnings) {
  nb::list out;
  for (const Diagnostic& d : diagnostics.all()) {
    if (d.is_warning() == warnings) out.append(AsTuple(d));
  }
  return out;
}

void Raise(const Diagnostics& diagnostics) {
  const nb::object error = nb::module_::import_("hespas.errors").attr("make")(AsPython(diagnostics, false));
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.ptr())), error.ptr());
  throw nb::python_error();
}

void Raise(const Error& error) {
  Diagnostics diagnostics;
  diagnostics.Report(error);
  Raise(diagnostics);
}

void BindErrors(nb::module_& module) {
  module.def("error", &RaiseByCode, nb::arg("code"), nb::arg("message"), nb::arg("help") = "",
             "Raises the exception of a code that only Python callers meet.");
}

}  // namespace hespas::python
