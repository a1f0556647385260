#include "pipeline.h"

#include <fmt/format.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "call.h"
#include "driver/pipeline/run.h"
#include "errors.h"
#include "estimate/registry.h"
#include "program.h"
#include "report/text/efficiency.h"
#include "report/text/program/blocks.h"
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
template <class Place>
void Field(nb::class_<Options>& options, const char* name, Place place) {
  using Value = std::remove_cvref_t<decltype(place(std::declval<driver::RunOptions&>()))>;
  options.def_prop_rw(
      name, [place](Options& o) { return place(o.run); },
      [place](Options& o, Value value) { place(o.run) = std::move(value); });
}

// The same for one of a few words, as the command line has them.
template <class Place>
void WordField(nb::class_<Options>& options, const char* name, Place place) {
  using Value = std::remove_cvref_t<decltype(place(std::declval<driver::RunOptions&>()))>;
  options.def_prop_rw(
      name, [place](Options& o) { return std::string(driver::TextOf(place(o.run))); },
      [name, place](Options& o, const std::string& text) {
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
  Field(
      options, "device", [](R & o) -> auto& { return o.device.name; });
  Field(
      options, "system", [](R & o) -> auto& { return o.system.name; });
  Field(
      options, "num_npus", [](R & o) -> auto& { return o.system.num_npus; });
  Field(
      options, "changes", [](R & o) -> auto& { return o.changes; });
  Field(
      options, "require_fit", [](R & o) -> auto& { return o.memory.require_fit; });
  Field(
      options, "rank_devices", [](R & o) -> auto& { return o.parts.rank_devices; });
  WordField(
      options, "network_backend", [](R & o) -> auto& { return o.network.backend; });
  WordField(
      options, "network_model", [](R & o) -> auto& { return o.network.model; });
  WordField(
      options, "overlap", [](R & o) -> auto& { return o.network.overlap; });
}

void BindEstimateOptions(nb::class_<Options>& options) {
  using R = driver::RunOptions;
  Field(
      options, "estimator", [](R & o) -> auto& { return o.estimate.estimator; });
  Field(
      options, "fallback", [](R & o) -> auto& { return o.estimate.settings.fallback; });
  WordField(
      options, "dataflow", [](R & o) -> auto& { return o.estimate.settings.dataflow; });
  Field(
      options, "tool_path", [](R & o) -> auto& { return o.estimate.settings.tool_path; });
  Field(
      options, "tool_config", [](R & o) -> auto& { return o.estimate.settings.tool_config; });
  Field(
      options, "tool_mapping", [](R & o) -> auto& { return o.estimate.settings.tool_mapping; });
  Field(
      options, "tool_clock", [](R & o) -> auto& { return o.estimate.settings.tool_clock_hz; });
  Field(
      options, "tool_chips", [](R & o) -> auto& { return o.estimate.settings.tool_chips; });
  Field(
      options, "tool_timeout", [](R & o) -> auto& { return o.estimate.settings.tool_limit_s; });
  Field(
      options, "kernel_simulator", [](R & o) -> auto& { return o.estimate.settings.kernel_simulator; });
  Field(
      options, "flash_attention", [](R & o) -> auto& { return o.estimate.flash_attention; });
  Field(
      options, "strict", [](R & o) -> auto& { return o.estimate.strict; });
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
  WordField(
      options, "optimise", [](R & o) -> auto& { return o.optimise.mode; });
  Field(
      options, "xla_flags", [](R & o) -> auto& { return o.optimise.xla_flags; });
  Field(
      options, "schedule_limit", [](R & o) -> auto& { return o.optimise.schedule_limit; });
  WordField(
      options, "split", [](R & o) -> auto& { return o.split.strategy; });
  Field(
      options, "merge", [](R & o) -> auto& { return o.split.merge; });
  Field(
      options, "block_limit", [](R & o) -> auto& { return o.split.block_limit; });
  // Also the prototype's spellings ("is_reduce_op").
  options.def_prop_rw(
      "separator", [](const Options& o) { return std::string(driver::TextOf(o.run.split.separator)); },
      [](Options& o, const std::string& text) {
        const auto separator = split::SeparatorByName(text);
        if (!separator) throw nb::value_error(fmt::format("separator: `{}` is none of its words", text).c_str());
        o.run.split.separator = *separator;
      });
  Field(
      options, "compat", [](R & o) -> auto& { return o.compat; });
  Field(
      options, "output", [](R & o) -> auto& { return o.output.folder; });
  Field(
      options, "command_line", [](R & o) -> auto& { return o.output.command_line; });
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
      .def("efficiency",
           [](const result::RunResult& r) {
             std::vector<std::tuple<std::string, std::string, std::string>> lines;
             for (report::FigureLine& line : report::EfficiencyLines(r)) {
               lines.emplace_back(std::move(line.label), std::move(line.figure), std::move(line.note));
             }
             return lines;
           })
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
