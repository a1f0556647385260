#include "pipeline.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <type_traits>

#include "call.h"
#include "driver/pipeline/run.h"
#include "errors.h"
#include "estimate/registry.h"
#include "program.h"
#include "report/text/blocks.h"
#include "report/text/run_report.h"

namespace nb = nanobind;

namespace hespas::python {
namespace {

struct Options {
  driver::RunOptions run;
  std::shared_ptr<PythonEstimator> estimator;  // null: the one that `run` names
};

driver::RunOptions For(const Program& program, const Options& options) {
  driver::RunOptions run = options.run;
  run.program = program.name;
  run.content = program.content;
  run.custom_estimator = options.estimator;
  run.list_blocks = true;  // as `hespas run --format json` has it
  return run;
}

std::unique_ptr<result::RunResult> Run(const Program& program, const Options& options) {
  Diagnostics diagnostics;
  auto result =
      CallWithoutGil(options.estimator.get(), [&] { return driver::Run(For(program, options), diagnostics); });
  if (!result) Raise(diagnostics);
  return std::make_unique<result::RunResult>(std::move(*result));
}

// The files of a run's output folder.
void Write(const Program& program, Options options, const std::string& folder) {
  options.run.output = folder;
  Run(program, options);
}

// What `hespas estimate` prints as JSON, with the sums over all blocks.
struct Estimated {
  std::string device;
  std::string estimator;
  Time time;
  Flops flops;
  Bytes bytes;
  std::string ops;  // JSON: one object an op name
  Diagnostics diagnostics;
};

bool EstimateInto(const driver::RunOptions& options, Estimated& out) {
  const auto prepared = driver::Prepare(options, out.diagnostics);
  if (!prepared) return false;
  const auto estimated = driver::EstimateBlocks(options, *prepared, out.diagnostics);
  if (!estimated) return false;
  for (const uint32_t at : estimated->table.of_block) {
    if (at == graph::EstimateTable::kNone) continue;
    const graph::Estimate& estimate = estimated->table.unique[at];
    out.time += estimate.time;
    out.flops += estimate.flops;
    out.bytes += estimate.bytes;
  }
  out.device = prepared->device.name;
  out.ops = report::ToJson(report::OpTable(estimated->ops, false));
  return true;
}

std::unique_ptr<Estimated> Estimate(const Program& program, const Options& options) {
  auto out = std::make_unique<Estimated>();
  const auto run = For(program, options);
  out->estimator = options.estimator ? std::string(options.estimator->name()) : run.estimator;
  if (!CallWithoutGil(options.estimator.get(), [&] { return EstimateInto(run, *out); })) Raise(out->diagnostics);
  return out;
}

template <class Member>
auto RunField(Member driver::RunOptions::*member) {
  return std::pair{[member](const Options& o) { return o.run.*member; },
                   [member](Options& o, Member value) { o.run.*member = std::move(value); }};
}

void BindProfileOptions(nb::class_<Options>& options) {
  const auto field = [&options](const char* name, auto member) {
    options.def_prop_rw(
        name, [member](const Options& o) { return o.run.profile.*member; },
        [member](Options& o, std::remove_cvref_t<decltype(estimate::ProfileOptions().*member)> value) {
          o.run.profile.*member = std::move(value);
        });
  };
  using P = estimate::ProfileOptions;
  field("whole", &P::whole);
  field("plugin", &P::plugin);
  field("cold", &P::cold);
  field("clock", &P::clock);
  field("at_once", &P::at_once);
  field("sample", &P::sample);
  field("budget", &P::budget_s);
  field("jobs", &P::jobs);
  field("tool_memory", &P::memory_gib);
  field("block_compiler", &P::compiler);
  field("block_runner", &P::runner);
  field("iree_backend", &P::target_backend);
  field("iree_device", &P::target_device);
  field("iree_compile_args", &P::compile_arguments);
  field("iree_run_args", &P::run_arguments);
}

void BindOptions(nb::module_& m) {
  nb::class_<Options> options(m, "Options");
  options.def(nb::init<>());
  const auto field = [&options](const char* name, auto member) {
    const auto [get, set] = RunField(member);
    options.def_prop_rw(name, get, set);
  };
  using R = driver::RunOptions;
  field("device", &R::device);
  field("system", &R::system);
  field("num_npus", &R::num_npus);
  field("estimator", &R::estimator);
  field("fallback", &R::fallback);
  field("dataflow", &R::dataflow);
  field("tool_path", &R::tool_path);
  field("tool_config", &R::tool_config);
  field("tool_mapping", &R::tool_mapping);
  field("tool_clock", &R::tool_clock_hz);
  field("tool_chips", &R::tool_chips);
  field("tool_timeout", &R::tool_limit_s);
  field("kernel_simulator", &R::kernel_simulator);
  field("optimise", &R::optimise);
  field("xla_flags", &R::xla_flags);
  field("split", &R::split);
  field("merge", &R::merge);
  field("block_limit", &R::block_limit);
  field("separator", &R::separator);
  field("network_backend", &R::network_backend);
  field("network_model", &R::network_model);
  field("overlap", &R::overlap);
  field("changes", &R::changes);
  field("flash_attention", &R::flash_attention);
  field("require_fit", &R::require_fit);
  field("rank_devices", &R::rank_devices);
  field("cache", &R::cache);
  field("compat", &R::compat);
  field("strict", &R::strict);
  field("output", &R::output);
  field("command_line", &R::command_line);
  BindProfileOptions(options);
  options.def("assume", [](Options& o, int64_t trip_count, std::vector<double> branches, double moe_imbalance) {
    o.run.assumptions = {
        .trip_count = trip_count, .branch_probabilities = std::move(branches), .moe_imbalance = moe_imbalance};
  });
  options.def("set_estimator",
              [](Options& o, nb::object estimator) { o.estimator = std::make_shared<PythonEstimator>(estimator); });
}

}  // namespace

void BindPipeline(nb::module_& m) {
  BindOptions(m);
  nb::class_<result::RunResult>(m, "RunResult")
      .def("json", [](const result::RunResult& r) { return report::ToJson(r); })
      .def("summary", [](const result::RunResult& r) { return report::Summary(r); });
  nb::class_<Estimated>(m, "Estimated")
      .def_ro("device", &Estimated::device)
      .def_ro("estimator", &Estimated::estimator)
      .def_prop_ro("time_s", [](const Estimated& e) { return e.time.seconds(); })
      .def_prop_ro("time_ps", [](const Estimated& e) { return e.time.value; })
      .def_prop_ro("flops", [](const Estimated& e) { return e.flops.value; })
      .def_prop_ro("bytes", [](const Estimated& e) { return e.bytes.value; })
      .def_ro("ops", &Estimated::ops)
      .def_prop_ro("warnings", [](const Estimated& e) { return AsPython(e.diagnostics, true); });
  m.def("measures", &estimate::Measures);
  m.def("run", &Run, nb::arg("program"), nb::arg("options"));
  m.def("write", &Write, nb::arg("program"), nb::arg("options"), nb::arg("folder"));
  m.def("estimate", &Estimate, nb::arg("program"), nb::arg("options"));
}

}  // namespace hespas::python
