#include "driver/inspect/compare.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/system/file.h"
#include "base/text/json_text.h"
#include "driver/inspect/xla_dump.h"
#include "driver/pipeline/pipeline.h"
#include "estimate/registry.h"
#include "read/profile/profile.h"
#include "report/step/block_times.h"

namespace hespas::driver {
namespace {

using report::ComparedSide;

struct Dimension {
  std::string name;
  const std::vector<std::string>* values;
  void (*set)(RunOptions& options, const std::string& value);
};

std::vector<Dimension> DimensionsOf(const CompareOptions& options) {
  return {{"program", &options.inputs, [](RunOptions& o, const std::string& v) { o.program.path = v; }},
          {"device", &options.devices, [](RunOptions& o, const std::string& v) { o.device.name = v; }},
          {"system", &options.systems, [](RunOptions& o, const std::string& v) { o.system.name = v; }},
          {"estimator", &options.estimators, [](RunOptions& o, const std::string& v) { o.estimate.estimator = v; }},
          {"optimisation", &options.optimisations,
           [](RunOptions& o, const std::string& v) { o.optimise.mode = *ValueOf<OptimiseMode>(v); }}};
}

bool Differ(std::vector<std::string> labels) {
  std::sort(labels.begin(), labels.end());
  return std::adjacent_find(labels.begin(), labels.end()) == labels.end();
}

std::optional<report::Comparison> CompareFiles(const std::vector<std::string>& paths, Diagnostics& diagnostics) {
  const std::vector<std::string> labels = FileLabels(paths);
  std::vector<ComparedSide> sides;
  for (size_t i = 0; i < paths.size(); ++i) {
    auto result = ReadResult(paths[i]);
    if (!result) {
      diagnostics.Report(result.error());
      continue;
    }
    sides.push_back({labels[i], *std::move(result)});
  }
  if (sides.size() < paths.size()) return std::nullopt;
  std::string dimension = DifferenceOf(sides[0].result, sides[1].result);
  return report::Compare(std::move(dimension), std::move(sides));
}

Error Usage(std::string message) {
  return MakeError(kNothingVaries, std::move(message), {},
                   "name two programs or two results, or two values of one of --device, --system, --estimators and "
                   "--optimise");
}

// The dimension that varies, or an error where none or more than one does.
Result<Dimension> Varying(const CompareOptions& options) {
  std::vector<Dimension> found;
  std::vector<std::string> names;
  for (const Dimension& dimension : DimensionsOf(options)) {
    if (dimension.values->size() < 2) continue;
    found.push_back(dimension);
    names.push_back(dimension.name);
  }
  if (found.empty()) return Usage("nothing varies: there is one value of everything");
  if (found.size() > 1) return Usage(fmt::format("more than one thing varies: {}", fmt::join(names, ", ")));
  return found[0];
}

// One result against a profiler's trace.
Result<report::Comparison> CompareWithTrace(const CompareOptions& options) {
  if (options.inputs.size() != 1) return Usage("--measured takes one result of a run");
  for (const Dimension& dimension : DimensionsOf(options)) {
    if (dimension.name != "program" && !dimension.values->empty())
      return Usage(fmt::format("--measured compares one result as it is: it takes no {}", dimension.name));
  }
  const auto predicted = ReadResult(options.inputs[0]);
  if (!predicted) return predicted.error();
  return CompareTrace(*predicted, options.measured);
}

// What one run says and an earlier one has said already is said once.
void ReportNew(const Diagnostics& found, Diagnostics& diagnostics) {
  for (const Diagnostic& one : found.all()) {
    const bool known = std::ranges::any_of(diagnostics.all(), [&](const Diagnostic& other) {
      return other.kind == one.kind && other.message == one.message && other.location.line == one.location.line;
    });
    if (!known) diagnostics.Report(one);
  }
}

// What is measured is set beside what is modelled only where both are cut alike: as measured programs are.
void CutAlike(const std::vector<std::string>& estimators, RunOptions& options) {
  if (std::ranges::none_of(estimators, estimate::Measures)) return;
  SplitStrategy& split = options.split.strategy;
  OptimiseMode& mode = options.optimise.mode;
  if (split == SplitStrategy::kAuto) split = SplitStrategy::kLinear;
  if (mode == OptimiseMode::kAuto && split != SplitStrategy::kFusion) mode = OptimiseMode::kNone;
}

std::optional<report::Comparison> CompareVariants(const CompareOptions& options, const Dimension& varying,
                                                  Diagnostics& diagnostics) {
  RunOptions common = options.run;
  common.output.list_blocks = true;
  for (const Dimension& dimension : DimensionsOf(options)) {
    if (!dimension.values->empty()) dimension.set(common, dimension.values->front());
  }
  CutAlike(options.estimators, common);
  if (common.program.path == "-") {
    auto raw = ReadRaw(common.program.path);
    if (!raw) diagnostics.Report(raw.error());
    if (!raw) return std::nullopt;
    common.program.content = std::make_shared<const std::string>(std::move(*raw));
  }
  const std::vector<std::string> labels = FileLabels(*varying.values);
  std::vector<ComparedSide> sides;
  for (size_t i = 0; i < labels.size(); ++i) {
    RunOptions own = common;
    varying.set(own, (*varying.values)[i]);
    Diagnostics found;
    auto run = RunStages(own, found);
    ReportNew(found, diagnostics);
    if (!run) return std::nullopt;
    sides.push_back({labels[i], std::move(run->result)});
  }
  return report::Compare(varying.name, std::move(sides));
}

// One program as the optimiser has it, against what XLA made of it.
std::optional<report::Comparison> CompareWithDump(const CompareOptions& options, Diagnostics& diagnostics) {
  const auto compiled = CompiledProgramIn(options.xla_dump);
  if (!compiled) diagnostics.Report(compiled.error());
  if (options.inputs.size() != 1) diagnostics.Report(Usage("--xla-dump takes one program"));
  for (const Dimension& dimension : DimensionsOf(options)) {
    if (dimension.name != "program" && dimension.values->size() > 1)
      diagnostics.Report(Usage(fmt::format("--xla-dump compares compilers: give one {}", dimension.name)));
  }
  if (diagnostics.has_errors()) return std::nullopt;
  CompareOptions pair = options;
  pair.inputs.push_back(*compiled);
  const Dimension programs{"compiler", &pair.inputs, [](RunOptions& o, const std::string& v) { o.program.path = v; }};
  auto comparison = CompareVariants(pair, programs, diagnostics);
  if (comparison) comparison->labels = {"Hespas", "XLA"};
  return comparison;
}

template <class T>
void Read(const nlohmann::json& json, const char* key, T& out, bool& complete) {
  const auto found = json.find(key);
  if constexpr (std::is_same_v<T, std::string>) {
    complete &= found != json.end() && found->is_string();
    if (complete) out = found->get<std::string>();
  } else {
    complete &= found != json.end() && found->is_number_integer();
    if (complete) out = T(found->get<int64_t>());
  }
}

// Figures that results of older versions lack.
void ReadWork(const nlohmann::json& json, result::RunResult& out) {
  const auto number = [](const nlohmann::json& object, const char* key) {
    const auto found = object.is_object() ? object.find(key) : object.end();
    return found != object.end() && found->is_number() ? std::optional(found->get<double>()) : std::nullopt;
  };
  const auto bytes = [&](const char* key) {
    const auto value = number(json, key);
    return value ? std::optional(Bytes(static_cast<int64_t>(*value))) : std::nullopt;
  };
  if (const auto sigma = number(json, "step_time_sigma_s")) out.step_time_sigma = Time::Seconds(*sigma);
  const auto model = json.find("network_model");
  if (model != json.end() && model->is_string()) out.network_model = model->get<std::string>();
  if (const auto flops = number(json, "flops")) out.flops = Flops(internal::SaturatingRound(*flops));
  out.model_flops_utilisation = number(json, "model_flops_utilisation");
  out.hardware_flops_utilisation = number(json, "hardware_flops_utilisation").value_or(0);
  out.peak_memory = bytes("peak_memory_bytes");
  out.memory_capacity = bytes("memory_capacity_bytes");
  if (out.peak_memory && out.memory_capacity) out.fits_in_memory = *out.peak_memory <= *out.memory_capacity;
  const nlohmann::json throughput = json.value("throughput", nlohmann::json());
  const auto per_step = number(throughput, "per_step_and_device");
  if (per_step)
    out.throughput = {.unit = throughput.value("unit", std::string()), .per_step = *per_step, .argument = {}};
}

}  // namespace

std::vector<std::string> FileLabels(const std::vector<std::string>& paths) {
  std::vector<std::string> names;
  std::vector<std::string> folders;
  for (const std::string& path : paths) {
    const bool words = path.find(' ') != std::string::npos && path.find('=') != std::string::npos;  // a cluster's line
    names.push_back(words ? path : std::filesystem::path(path).filename().string());
    folders.push_back(std::filesystem::path(path).parent_path().filename().string());
  }
  if (Differ(names)) return names;
  if (Differ(folders) && std::ranges::none_of(folders, &std::string::empty)) return folders;
  if (Differ(paths)) return paths;
  for (size_t i = 0; i < names.size(); ++i) names[i] = fmt::format("{}: {}", i + 1, names[i]);
  return names;
}

std::string DifferenceOf(const result::RunResult& a, const result::RunResult& b) {
  std::vector<std::string> names;
  if (a.program.sha256 != b.program.sha256) names.push_back("program");
  if (a.device != b.device) names.push_back("device");
  if (a.system != b.system) names.push_back("system");
  if (a.estimator != b.estimator) names.push_back("estimator");
  if (a.optimise != b.optimise) names.push_back("optimisation");
  return names.empty() ? "result" : fmt::format("{}", fmt::join(names, ", "));
}

Result<bool> IsResult(const std::string& path) {
  if (path == "-") return false;
  auto text = ReadInput(path);
  if (!text) return text.error();
  const size_t first = text->find_first_not_of(" \t\r\n");
  return first != std::string::npos && (*text)[first] == '{';
}

Result<result::RunResult> ReadResult(const std::string& path) {
  auto text = ReadInput(path);
  if (!text) return text.error();
  auto json = ParseJson(*text, path);
  if (!json) return json.error();
  const auto bad = [&](const std::string& why) {
    return MakeError(kNoResult, fmt::format("`{}` {}", path, why), {},
                     "make it with `hespas run PROGRAM --output DIR`");
  };
  if (!json->is_object() || !json->contains("step_time_ps")) return bad("is not the result of a run");
  result::RunResult out;
  bool complete = json->value("schema_version", nlohmann::json()) == 1 && json->contains("program");
  if (complete) Read((*json)["program"], "path", out.program.path, complete);
  if (complete) Read((*json)["program"], "sha256", out.program.sha256, complete);
  Read(*json, "device", out.device, complete);
  Read(*json, "system", out.system, complete);
  Read(*json, "npus", out.npus, complete);
  Read(*json, "estimator", out.estimator, complete);
  Read(*json, "optimise", out.optimise, complete);
  Read(*json, "step_time_ps", out.step_time, complete);
  Read(*json, "compute_time_ps", out.compute_time, complete);
  Read(*json, "exposed_communication_ps", out.exposed_communication, complete);
  Read(*json, "idle_ps", out.idle, complete);
  ReadWork(*json, out);
  if (!complete) return bad("lacks members of a result of schema_version 1, or they have another type");
  if (!json->contains("block_times")) return bad("does not list its blocks (`block_times`)");
  auto blocks = report::BlockTimesOf((*json)["block_times"], path);
  if (!blocks) return blocks.error();
  Time sum = blocks->idle;
  for (const result::BlockTime& block : blocks->blocks) sum += block.time;
  if (sum != out.step_time) return bad("contradicts itself: its blocks do not add up to its step time");
  out.block_times = *std::move(blocks);
  return out;
}

Result<report::Comparison> CompareTrace(const result::RunResult& predicted, const std::string& trace) {
  const auto text = ReadInput(trace);
  if (!text) return text.error();
  const auto step = read::ReadProfile(*text, trace);
  if (!step) return step.error();
  return report::CompareMeasured(predicted, *step);
}

std::optional<report::Comparison> CompareRuns(const CompareOptions& options, Diagnostics& diagnostics) {
  if (!options.measured.empty()) {
    auto comparison = CompareWithTrace(options);
    if (comparison) return *std::move(comparison);
    diagnostics.Report(comparison.error());
    return std::nullopt;
  }
  if (!options.xla_dump.empty()) return CompareWithDump(options, diagnostics);
  const Result<Dimension> varying = Varying(options);
  if (!varying) {
    diagnostics.Report(varying.error());
    return std::nullopt;
  }
  size_t results = 0;
  for (const std::string& input : options.inputs) {
    const auto is_result = IsResult(input);
    if (!is_result) {
      diagnostics.Report(is_result.error());
      return std::nullopt;
    }
    results += *is_result ? 1 : 0;
  }
  if (results == 0) return CompareVariants(options, *varying, diagnostics);
  if (results == options.inputs.size() && varying->name == "program") return CompareFiles(options.inputs, diagnostics);
  diagnostics.Report(Usage("a result of a run can only be compared with another result"));
  return std::nullopt;
}

}  // namespace hespas::driver
