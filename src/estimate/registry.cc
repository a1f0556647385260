#include "estimate/registry.h"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "base/text/suggest.h"
#include "estimate/calibrated/calibrated.h"
#include "estimate/external/op_model.h"
#include "estimate/external/tool_model.h"
#include "estimate/external/worker_model.h"
#include "estimate/native/matrix_model.h"
#include "estimate/profile/profilers.h"
#include "estimate/profile/profiling.h"
#include "estimate/ptx/ptx_model.h"
#include "estimate/roofline/prototype_roofline.h"
#include "estimate/roofline/roofline.h"
#include "hardware/presets.h"

namespace hespas::estimate {
namespace {

using Made = Result<std::unique_ptr<Estimator>>;

Made MakeRoofline(const hardware::Device& device, const EstimatorOptions& options) {
  if (options.compat) return Made(std::make_unique<PrototypeRoofline>(PrototypeRates::Of(device)));
  return Made(std::make_unique<Roofline>(device, options.facts));
}

Made MakeCalibrated(const hardware::Device& device, const EstimatorOptions& options) {
  const auto& parameters = calibrated::DefaultParameters();
  if (!parameters) return parameters.error();
  return Made(std::make_unique<calibrated::Calibrated>(device, *parameters, options.facts, options.buffers));
}

// A fallback costs everything, so it needs none itself.
Made MakeFallback(const hardware::Device& device, const EstimatorOptions& options) {
  const EstimatorOptions plain{.facts = options.facts, .buffers = options.buffers};
  return options.fallback == "roofline" ? MakeRoofline(device, plain) : MakeCalibrated(device, plain);
}

Made Combined(Result<std::unique_ptr<OpModel>> model, const hardware::Device& device, const EstimatorOptions& options) {
  if (!model) return model.error();
  auto fallback = MakeFallback(device, options);
  if (!fallback) return fallback;
  return Made(WithFallback(*std::move(model), *std::move(fallback)));
}

Made FromMatrixModel(native::MadeModel model, const hardware::Device& device, const EstimatorOptions& options) {
  if (!model) return model.error();
  return Combined(native::AsOpModel(*std::move(model)), device, options);
}

Made MakeSystolic(const hardware::Device& device, const EstimatorOptions& options) {
  return FromMatrixModel(native::MakeSystolic(device), device, options);
}

Made MakeScaleSim(const hardware::Device& device, const EstimatorOptions& options) {
  return FromMatrixModel(native::MakeScaleSim(device, options.dataflow), device, options);
}

Made MakeGenz(const hardware::Device& device, const EstimatorOptions& options) {
  return FromMatrixModel(native::MakeGenz(device), device, options);
}

std::chrono::milliseconds LimitOf(const EstimatorOptions& options) {
  return std::chrono::milliseconds(static_cast<int64_t>(options.tool_limit_s * 1000));
}

// An array's clock, where the device file tells it.
ToolOptions ToolOptionsOf(const hardware::Device& device, const EstimatorOptions& options) {
  ToolOptions tool{.path = options.tool_path,
                   .config = options.tool_config,
                   .asked_clock_hz = options.tool_clock_hz,
                   .chips = options.tool_chips,
                   .limit = LimitOf(options)};
  if (device.systolic_array) tool.clock_hz = device.systolic_array->clock_hz;
  if (options.tool_clock_hz) tool.clock_hz = *options.tool_clock_hz;
  return tool;
}

Made MakeCocosSimEstimator(const hardware::Device& device, const EstimatorOptions& options) {
  return Combined(MakeCocosSim(ToolOptionsOf(device, options)), device, options);
}

Made MakeOnnximEstimator(const hardware::Device& device, const EstimatorOptions& options) {
  return Combined(MakeOnnxim(ToolOptionsOf(device, options)), device, options);
}

// A worker of ours in Python, with an accelerator of ours unless told otherwise.
Made MakeZigzag(const hardware::Device& device, const EstimatorOptions& options) {
  const auto data = hardware::DataFolder();
  if (!data) return data.error();
  const ToolOptions tool = ToolOptionsOf(device, options);
  const std::string accelerator = tool.config.empty() ? (*data / "zigzag/tpuv3_like.yaml").string() : tool.config;
  WorkerCommand command;
  command.arguments = {
      tool.path.empty() ? "python3" : tool.path, (*data / "tools/zigzag_worker.py").string(), accelerator,
      options.tool_mapping.empty() ? (*data / "zigzag/gemm_mapping.yaml").string() : options.tool_mapping,
      fmt::format("{}", tool.clock_hz)};
  command.limit = tool.limit;
  return Combined(StartWorkerModel(std::move(command), device), device, options);
}

Made MakePtxEstimator(const hardware::Device& device, const EstimatorOptions& options) {
  return Combined(ptx::MakePtx(device, {.compiler = options.tool_path,
                                        .kernel_simulator = options.kernel_simulator,
                                        .clock_hz = options.tool_clock_hz,
                                        .limit = LimitOf(options)}),
                  device, options);
}

constexpr std::string_view kExec = "exec:";

Made MakeExec(std::string_view path, const hardware::Device& device, const EstimatorOptions& options) {
  WorkerCommand command;
  command.arguments = {std::string(path)};
  command.limit = LimitOf(options);
  return Combined(StartWorkerModel(std::move(command), device), device, options);
}

Made Measuring(MadeProfiler profiler, const hardware::Device& device, const EstimatorOptions& options) {
  if (!profiler) return profiler.error();
  auto fallback = MakeFallback(device, options);
  if (!fallback) return fallback;
  return Made(Profiling(*std::move(profiler), *std::move(fallback), options.profile));
}

Made MakePjrt(const hardware::Device& device, const EstimatorOptions& options) {
  return Measuring(MakePjrtProfiler(options.profile, LimitOf(options)), device, options);
}

Made MakeXla(const hardware::Device& device, const EstimatorOptions& options) {
  return Measuring(MakeXlaProfiler(options.profile, LimitOf(options)), device, options);
}

Made MakeIree(const hardware::Device& device, const EstimatorOptions& options) {
  return Measuring(MakeIreeProfiler(options.profile, LimitOf(options)), device, options);
}

constexpr EstimatorEntry kEstimators[] = {
    {"roofline", "the longer of arithmetic at peak rate and traffic at full bandwidth, op by op", MakeRoofline},
    {"calibrated", "tiles, waves, caches and launches, with a few constants fitted on measured kernels",
     MakeCalibrated},
    {"systolic", "matmuls by cycles of a weight-stationary array with memory phases (as COCOSSim)", MakeSystolic},
    {"scalesim", "matmuls by cycles of an array without memory (as SCALE-Sim), --dataflow ws or os", MakeScaleSim},
    {"genz", "matmuls by GenZ's operator formula", MakeGenz},
    {"cocossim", "matmuls by COCOSSim's perf_model (--tool-path)", MakeCocosSimEstimator},
    {"onnxim", "matmuls by ONNXim's Simulator (--tool-path, --tool-config NPU.json)", MakeOnnximEstimator},
    {"zigzag_onnx", "matmuls by ZigZag (--tool-path: a Python that has it; --tool-config ACCELERATOR.yaml)",
     MakeZigzag},
    {"pjrt", "measures blocks with a PJRT plugin (--plugin) on the device that it drives", MakePjrt},
    {"ptx", "kernels that iree-compile makes for a CUDA GPU (--tool-path), by their instructions", MakePtxEstimator},
    {"xla", "measures blocks with XLA's xla-translate and hlo_runner_main", MakeXla},
    {"iree", "measures blocks with iree-compile and iree-benchmark-module", MakeIree},
};

}  // namespace

std::span<const EstimatorEntry> Estimators() { return kEstimators; }

bool Measures(std::string_view name) { return name == "pjrt" || name == "xla" || name == "iree"; }

Result<std::unique_ptr<Estimator>> MakeEstimator(std::string_view name, const hardware::Device& device,
                                                 const EstimatorOptions& options) {
  if (name.starts_with(kExec)) return MakeExec(name.substr(kExec.size()), device, options);
  std::vector<std::string> names;
  for (const EstimatorEntry& entry : kEstimators) {
    if (entry.name == name) return entry.make(device, options);
    names.emplace_back(entry.name);
  }
  return MakeError(kUnknownEstimator, fmt::format("no estimator `{}`", name), {}, DidYouMean(name, names));
}

}  // namespace hespas::estimate
