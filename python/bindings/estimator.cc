#include "estimator.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <cmath>
#include <utility>
#include <vector>

#include "errors.h"
#include "estimate/cost.h"
#include "estimate/registry.h"
#include "hardware/presets.h"
#include "ir/printer.h"
#include "kinds.h"

namespace nb = nanobind;

namespace hespas::python {
namespace {

using TypeTexts = std::vector<std::string>;

const ir::Module& ModuleOf(const OpHandle& handle) {
  const auto module = handle.module.lock();
  if (!module) Raise(MakeError(kStaleOp, "the operation's program is gone", {}, "keep what you need of it instead"));
  return **module;
}

template <class Values>
TypeTexts Texts(const ir::Module& module, const Values& values) {
  TypeTexts out;
  for (const ir::ValueId value : values) out.push_back(module.types().Text(module.type_id(value)));
  return out;
}

std::vector<std::pair<std::string, std::string>> Attributes(const OpHandle& handle) {
  const ir::Module& module = ModuleOf(handle);
  std::vector<std::pair<std::string, std::string>> out;
  for (const ir::Attribute& each : module.attributes(handle.op)) {
    out.emplace_back(module.name(each.name), each.text);
  }
  return out;
}

void BindOp(nb::module_& m) {
  nb::class_<OpHandle>(m, "Op", "One operation of a program, as an estimator sees it; valid during that call.")
      .def_prop_ro(
          "name", [](const OpHandle& h) { return std::string(ModuleOf(h).name(h.op)); },
          "Full name, `stablehlo.dot_general`.")
      .def_prop_ro(
          "operand_types", [](const OpHandle& h) { return Texts(ModuleOf(h), ModuleOf(h).operands(h.op)); },
          "MLIR types of the operands, `tensor<8x16xbf16>`.")
      .def_prop_ro(
          "result_types", [](const OpHandle& h) { return Texts(ModuleOf(h), ModuleOf(h).results(h.op)); },
          "MLIR types of the results.")
      .def_prop_ro("attribute_items", &Attributes, "Pairs of attribute name and MLIR text.")
      .def_prop_ro(
          "flops", [](const OpHandle& h) { return estimate::CostOf(ModuleOf(h), h.op).flops; },
          "Floating-point operations of this op alone.")
      .def_prop_ro(
          "bytes", [](const OpHandle& h) { return estimate::CostOf(ModuleOf(h), h.op).bytes; },
          "Bytes moved from and to memory by this op alone.")
      .def_prop_ro(
          "text", [](const OpHandle& h) { return ir::PrintGeneric(ModuleOf(h), h.op); },
          "MLIR's generic form, with nested regions.");
}

struct BuiltIn {
  hardware::Device device;
  std::unique_ptr<estimate::Estimator> estimator;
};

std::unique_ptr<BuiltIn> MakeBuiltIn(const std::string& name, const std::string& device) {
  Diagnostics diagnostics;
  auto loaded = hardware::LoadDevice(device, diagnostics);
  if (!loaded) Raise(diagnostics);
  auto out = std::make_unique<BuiltIn>(BuiltIn{.device = std::move(*loaded), .estimator = nullptr});
  out->estimator = Value(estimate::MakeEstimator(name, out->device, {}));
  return out;
}

void BindBuiltIn(nb::module_& m) {
  nb::class_<graph::Estimate>(m, "RawEstimate")
      .def_prop_ro("time_s", [](const graph::Estimate& e) { return e.time.seconds(); })
      .def_prop_ro("sigma_s", [](const graph::Estimate& e) { return e.sigma.seconds(); })
      .def_prop_ro("flops", [](const graph::Estimate& e) { return e.flops.value; })
      .def_prop_ro("bytes", [](const graph::Estimate& e) { return e.bytes.value; });
  nb::class_<BuiltIn>(m, "BuiltInEstimator")
      .def_prop_ro("name", [](const BuiltIn& b) { return std::string(b.estimator->name()); })
      .def("key", [](const BuiltIn& b) { return b.estimator->key().hex(); })
      .def("estimate_op", [](const BuiltIn& b, const OpHandle& h) {
        estimate::Notes notes;
        return b.estimator->EstimateOp(ModuleOf(h), h.op, notes);
      });
  m.def("built_in_estimator", &MakeBuiltIn, nb::arg("name"), nb::arg("device"));
  m.def("estimator_names", [] {
    std::vector<std::pair<std::string, std::string>> out;
    for (const auto& entry : estimate::Estimators()) out.emplace_back(entry.name, entry.summary);
    return out;
  });
}

}  // namespace

PythonEstimator::PythonEstimator(nb::object estimator)
    : estimator_(std::move(estimator)),
      name_(nb::cast<std::string>(estimator_.attr("name"))),
      key_(HashBytes(nb::cast<std::string>(estimator_.attr("key")()))) {}

PythonEstimator::~PythonEstimator() {
  const nb::gil_scoped_acquire gil;
  estimator_.reset();
  error_.reset();
}

graph::Estimate PythonEstimator::EstimateOp(const ir::Module& module, ir::OpId op, estimate::Notes& notes) const {
  return estimate::ToEstimate(estimate::CompositeEvaluator(module, *this, notes).Op(op), name_);
}

graph::Estimate PythonEstimator::EstimateBlock(const ir::Module& module, const graph::Block& block,
                                               estimate::Notes& notes) const {
  estimate::CompositeEvaluator evaluator(module, *this, notes);
  estimate::Work sum;
  for (const ir::OpId op : block.ops) sum += evaluator.Op(op);
  return estimate::ToEstimate(sum, name_);
}

estimate::Work PythonEstimator::Leaf(const ir::Module& module, ir::OpId op, estimate::Notes&) const {
  if (failed()) return {};
  const nb::gil_scoped_acquire gil;
  try {
    return Ask(module, op);
  } catch (nb::python_error& error) {
    const std::lock_guard lock(mutex_);
    if (!error_) error_.emplace(std::move(error));
  }
  return {};
}

estimate::Work PythonEstimator::Ask(const ir::Module& module, ir::OpId op) const {
  const auto alive = std::make_shared<const ir::Module*>(&module);
  const nb::object answer = estimator_.attr("priced")(OpHandle{.module = alive, .op = op});
  const auto figure = [&answer](const char* name) { return nb::cast<double>(answer.attr(name)); };
  const double sigma = figure("sigma_s");
  return {.seconds = figure("time_s"),
          .variance = sigma * sigma,
          .flops = nb::cast<int64_t>(answer.attr("flops")),
          .bytes = nb::cast<int64_t>(answer.attr("bytes"))};
}

bool PythonEstimator::failed() const {
  const std::lock_guard lock(mutex_);
  return error_.has_value();
}

void PythonEstimator::Rethrow() const {
  if (error_) throw nb::python_error(std::move(*error_));
}

void BindEstimators(nb::module_& m) {
  BindOp(m);
  BindBuiltIn(m);
}

}  // namespace hespas::python
