// How many kernels a second the calibrated model times on one core.
#include <benchmark/benchmark.h>

#include <random>
#include <vector>

#include "estimate/calibrated/model.h"
#include "hardware/presets.h"

namespace hespas {
namespace {

using estimate::calibrated::Datatype;
using estimate::calibrated::KernelModel;
using estimate::calibrated::KernelSpec;
using estimate::calibrated::KernelTime;
using estimate::calibrated::Shape;

std::vector<KernelSpec> Kernels(Shape shape, Datatype type) {
  std::mt19937 random(1);
  const auto extent = [&] { return static_cast<double>((16u << (random() % 10)) + random() % 16); };
  const auto channels = [&] { return static_cast<double>(16u << (random() % 8)); };
  std::vector<KernelSpec> kernels(4096);
  for (KernelSpec& kernel : kernels) {
    kernel = {.shape = shape,
              .type = type,
              .b = static_cast<double>(1 + random() % 8),
              .m = extent(),
              .n = extent(),
              .k = extent(),
              .input_channels = channels(),
              .output_channels = channels(),
              .kernel_size = 3,
              .extent = static_cast<double>(7u << (random() % 6)),
              .padding = 1};
  }
  return kernels;
}

void TimeKernels(benchmark::State& state, Shape shape, Datatype type) {
  Diagnostics diagnostics;
  const auto device = hardware::LoadDevice("H100_80GB", diagnostics);
  const auto& parameters = estimate::calibrated::DefaultParameters();
  if (!device || !parameters) return state.SkipWithError("the data folder is missing");
  const KernelModel model(*device, *parameters);
  const std::vector<KernelSpec> kernels = Kernels(shape, type);
  std::vector<KernelTime> times(kernels.size());
  for (auto _ : state) {
    model.Times(kernels, times);
    benchmark::DoNotOptimize(times.data());
  }
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(kernels.size()));
}

BENCHMARK_CAPTURE(TimeKernels, gemm_bf16, Shape::kGemm, Datatype::kBf16);
BENCHMARK_CAPTURE(TimeKernels, linear_f32, Shape::kLinear, Datatype::kF32);
BENCHMARK_CAPTURE(TimeKernels, bmm_f32, Shape::kBatchedGemm, Datatype::kF32);
BENCHMARK_CAPTURE(TimeKernels, softmax_f32, Shape::kSoftmax, Datatype::kF32);
BENCHMARK_CAPTURE(TimeKernels, layer_norm_f32, Shape::kNorm, Datatype::kF32);
BENCHMARK_CAPTURE(TimeKernels, convolution_f32, Shape::kConvolution, Datatype::kF32);
BENCHMARK_CAPTURE(TimeKernels, elementwise_f32, Shape::kElementwise, Datatype::kF32);

}  // namespace
}  // namespace hespas
