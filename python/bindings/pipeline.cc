#include "pipeline.h"

#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <type_traits>
#include <utility>

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
  run.program.path = program.name;
  run.program.content = program.content;
  run.estimate.custom = options.estimator;
  run.output.list_blocks = true;  // as `hespas run --format json` has it
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
  options.run.output.folder = folder;
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
  out->estimator = options.estimator ? std::string(options.estimator->name()) : run.estimate.estimator;
  if (!CallWithoutGil(options.estimator.get(), [&] { return EstimateInto(run, *out); })) Raise(out->diagnostics);
  return out;
}

// A field of Python's Options: where it stands in a run's options.
template <auto place>
void Field(nb::class_<Options>& options, const char* name) {
  using Value = std::remove_cvref_t<decltype(place(std::declval<driver::RunOptions&>()))>;
  options.def_prop_rw(
      name, [](Options& o) { return place(o.run); }, [](Options& o, Value value) { place(o.run) = std::move(value); });
}

// The same for one of a few words, as the command line has them.
template <auto place>
void WordField(nb::class_<Options>& options, const char* name) {
  using Value = std::remove_cvref_t<decltype(place(std::declval<driver::RunOptions&>()))>;
  options.def_prop_rw(
      name, [](Options& o) { return std::string(driver::TextOf(place(o.run))); },
      [name](Options& o, const std::string& text) {
        const auto value = driver::ValueOf<Value>(text);
        if (!value) throw nb::value_error(fmt::format("{}: `{}` is none of its words", name, text).c_str());
        place(o.run) = *value;
      });
}

void BindProfileOptions(nb::class_<Options>& options) {
  const auto field = [&options](const char* name, auto member) {
    options.def_prop_rw(
        name, [member](const Options& o) { return o.run.estimate.settings.profile.*member; },
        [member](Options& o, std::remove_cvref_t<decltype(estimate::ProfileOptions().*member)> value) {
          o.run.estimate.settings.profile.*member = std::move(value);
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

void BindHardwareOptions(nb::class_<Options>& options) {
  using R = driver::RunOptions;
  Field < [](R & o) -> auto& { return o.device.name; }
  > (options, "device");
  Field < [](R & o) -> auto& { return o.system.name; }
  > (options, "system");
  Field < [](R & o) -> auto& { return o.system.num_npus; }
  > (options, "num_npus");
  Field < [](R & o) -> auto& { return o.changes; }
  > (options, "changes");
  Field < [](R & o) -> auto& { return o.memory.require_fit; }
  > (options, "require_fit");
  Field < [](R & o) -> auto& { return o.parts.rank_devices; }
  > (options, "rank_devices");
  WordField < [](R & o) -> auto& { return o.network.backend; }
  > (options, "network_backend");
  WordField < [](R & o) -> auto& { return o.network.model; }
  > (options, "network_model");
  WordField < [](R & o) -> auto& { return o.network.overlap; }
  > (options, "overlap");
}

void BindEstimateOptions(nb::class_<Options>& options) {
  using R = driver::RunOptions;
  Field < [](R & o) -> auto& { return o.estimate.estimator; }
  > (options, "estimator");
  Field < [](R & o) -> auto& { return o.estimate.settings.fallback; }
  > (options, "fallback");
  WordField < [](R & o) -> auto& { return o.estimate.settings.dataflow; }
  > (options, "dataflow");
  Field < [](R & o) -> auto& { return o.estimate.settings.tool_path; }
  > (options, "tool_path");
  Field < [](R & o) -> auto& { return o.estimate.settings.tool_config; }
  > (options, "tool_config");
  Field < [](R & o) -> auto& { return o.estimate.settings.tool_mapping; }
  > (options, "tool_mapping");
  Field < [](R & o) -> auto& { return o.estimate.settings.tool_clock_hz; }
  > (options, "tool_clock");
  Field < [](R & o) -> auto& { return o.estimate.settings.tool_chips; }
  > (options, "tool_chips");
  Field < [](R & o) -> auto& { return o.estimate.settings.tool_limit_s; }
  > (options, "tool_timeout");
  Field < [](R & o) -> auto& { return o.estimate.settings.kernel_simulator; }
  > (options, "kernel_simulator");
  Field < [](R & o) -> auto& { return o.estimate.flash_attention; }
  > (options, "flash_attention");
  Field < [](R & o) -> auto& { return o.estimate.strict; }
  > (options, "strict");
  options.def_prop_rw(
      "cache", [](const Options& o) { return driver::TextOf(o.run.estimate.cache); },
      [](Options& o, std::string text) { o.run.estimate.cache = driver::ParseCache(std::move(text)); });
}

void BindOptions(nb::module_& m) {
  nb::class_<Options> options(m, "Options");
  options.def(nb::init<>());
  using R = driver::RunOptions;
  BindHardwareOptions(options);
  BindEstimateOptions(options);
  WordField < [](R & o) -> auto& { return o.optimise.mode; }
  > (options, "optimise");
  Field < [](R & o) -> auto& { return o.optimise.xla_flags; }
  > (options, "xla_flags");
  WordField < [](R & o) -> auto& { return o.split.strategy; }
  > (options, "split");
  Field < [](R & o) -> auto& { return o.split.merge; }
  > (options, "merge");
  Field < [](R & o) -> auto& { return o.split.block_limit; }
  > (options, "block_limit");
  WordField < [](R & o) -> auto& { return o.split.separator; }
  > (options, "separator");
  Field < [](R & o) -> auto& { return o.compat; }
  > (options, "compat");
  Field < [](R & o) -> auto& { return o.output.folder; }
  > (options, "output");
  Field < [](R & o) -> auto& { return o.output.command_line; }
  > (options, "command_line");
  BindProfileOptions(options);
  options.def("assume", [](Options& o, int64_t trip_count, std::vector<double> branches, double moe_imbalance) {
    o.run.program.assumptions = {
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
