#include "compare.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <vector>

#include "call.h"
#include "driver/inspect/compare.h"
#include "errors.h"
#include "report/compare/comparison.h"

namespace nb = nanobind;

namespace hespas::python {
namespace {

using report::Comparison;
using Results = std::vector<const result::RunResult*>;

// An empty `dimension` is found out.
std::unique_ptr<Comparison> Compare(std::string dimension, const std::vector<std::string>& labels,
                                    const Results& results) {
  if (dimension.empty()) dimension = driver::DifferenceOf(*results.front(), *results.back());
  std::vector<report::ComparedSide> sides;
  for (size_t i = 0; i < results.size(); ++i) sides.push_back({labels[i], *results[i]});
  const nb::gil_scoped_release released;
  return std::make_unique<Comparison>(report::Compare(std::move(dimension), std::move(sides)));
}

std::unique_ptr<Comparison> CompareMeasured(const result::RunResult& predicted, const std::string& trace) {
  auto comparison = CallWithoutGil(nullptr, [&] { return driver::CompareTrace(predicted, trace); });
  return std::make_unique<Comparison>(Value(std::move(comparison)));
}

std::unique_ptr<result::RunResult> ReadResult(const std::string& path) {
  return std::make_unique<result::RunResult>(Value(driver::ReadResult(path)));
}

}  // namespace

void BindCompare(nb::module_& m) {
  nb::class_<Comparison>(m, "Comparison")
      .def_ro("dimension", &Comparison::dimension)
      .def_ro("labels", &Comparison::labels)
      .def("largest_difference", &Comparison::LargestDifference)
      .def("json", [](const Comparison& c) { return report::ToJson(c); })
      .def("text", [](const Comparison& c) { return report::ToText(c); })
      .def("page", [](const Comparison& c) { return report::ComparisonPage(c); });
  m.def("compare", &Compare, nb::arg("dimension"), nb::arg("labels"), nb::arg("results"));
  m.def("labels", &driver::FileLabels, nb::arg("names"));
  m.def("compare_measured", &CompareMeasured, nb::arg("predicted"), nb::arg("trace"));
  m.def("read_result", &ReadResult, nb::arg("path"));
}

}  // namespace hespas::python
