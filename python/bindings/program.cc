#include "program.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>

#include "base/system/file.h"
#include "call.h"
#include "driver/configuration/assumptions.h"
#include "driver/inspect/profile.h"
#include "driver/pipeline/run.h"
#include "errors.h"
#include "ir/printer.h"
#include "read/read.h"
#include "report/text/program/histogram.h"

namespace nb = nanobind;

namespace hespas::python {
namespace {

bool Parse(Program& program) {
  auto module = driver::ReadModule(program.name, Content(program.content, *program.content), &program.sha256,
                                   program.diagnostics);
  if (module) program.module = std::move(*module);
  return module.has_value();
}

std::unique_ptr<Program> Read(std::string name, std::string content) {
  auto program = std::make_unique<Program>();
  program->name = std::move(name);
  program->content = std::make_shared<const std::string>(std::move(content));
  if (!CallWithoutGil(nullptr, [&] { return Parse(*program); })) Raise(program->diagnostics);
  return program;
}

std::unique_ptr<Program> ReadFile(const std::string& path) {
  auto content = CallWithoutGil(nullptr, [&] { return ReadRaw(path); });
  return Read(path, Value(std::move(content)));
}

std::unique_ptr<Program> Retargeted(const Program& program, int64_t devices) {
  Diagnostics diagnostics;
  std::string text;
  const bool done = CallWithoutGil(nullptr, [&] {
    auto module = driver::ReadModule(program.name, Content(program.content, *program.content), nullptr, diagnostics);
    const Status status = module ? driver::Apply({.devices = devices}, *module, diagnostics) : Status();
    if (!status) diagnostics.Report(status.error());
    if (module && status) text = ir::PrintGeneric(*module);
    return module && status;
  });
  if (!done) Raise(diagnostics);
  return Read(program.name, std::move(text));
}

report::Extent ExtentOf(const std::string& extent) {
  if (extent == "all_regions") return report::Extent::kAllRegions;
  return extent == "expanded" ? report::Extent::kExpanded : report::Extent::kMain;
}

std::string Analyze(const Program& program, const std::string& extent, bool operand_types) {
  const report::Extent wanted = ExtentOf(extent);
  if (wanted != report::Extent::kAllRegions) Value(read::RequireMain(program.module));
  const nb::gil_scoped_release released;
  // Two objects: the counts, and all else that `hespas analyze --format json` tells.
  const auto histogram = report::CountOperators(program.module, {.extent = wanted, .operand_types = operand_types});
  return "[" + report::ToJson(histogram) + ", {" + report::ToJsonMembers(driver::ProfileOf(program.module)) + "}]";
}

int64_t MainOps(const Program& program) {
  const ir::OpId main = program.module.main();
  const ir::BlockId body = main.valid() ? program.module.body(main) : ir::BlockId();
  return body.valid() ? static_cast<int64_t>(program.module.block(body).ops.size()) : 0;
}

}  // namespace

void BindProgram(nb::module_& m) {
  nb::class_<Program>(m, "Program")
      .def_ro("name", &Program::name)
      .def_ro("sha256", &Program::sha256)
      .def_prop_ro("ops", &MainOps)
      .def_prop_ro("warnings", [](const Program& p) { return AsPython(p.diagnostics, true); })
      .def("content", [](const Program& p) { return nb::bytes(p.content->data(), p.content->size()); })
      .def("text",
           [](const Program& p) {
             const nb::gil_scoped_release released;
             return ir::PrintGeneric(p.module);
           })
      .def("retarget", &Retargeted, nb::arg("devices"))
      .def("analyze", &Analyze, nb::arg("extent"), nb::arg("operand_types"));
  m.def("read_file", &ReadFile, nb::arg("path"));
  m.def(
      "read_bytes",
      [](std::string name, const nb::bytes& content) {
        return Read(std::move(name), std::string(static_cast<const char*>(content.data()), content.size()));
      },
      nb::arg("name"), nb::arg("content"));
}

}  // namespace hespas::python
