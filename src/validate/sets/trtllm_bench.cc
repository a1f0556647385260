#include "validate/sets/trtllm_bench.h"

#include <algorithm>
#include <cmath>

namespace hespas::validate {
namespace {

double Up(double value, double step) { return step * std::ceil(value / step); }

// Elements that the checkpoint stores: two weights of 4 bits are one, and 16 have a scale.
double Stored(const serve::Model& model, serve::WeightFormat format) {
  const double tables = model.HeadWeights() * (model.tied ? 1 : 2);
  const double packed = format == serve::WeightFormat::kNvfp4 ? 1.0 / 2 + 1.0 / 16 : 1;
  return model.LayerWeights() * packed + tables;
}

double BytesOf(serve::WeightFormat format) {
  switch (format) {
    case serve::WeightFormat::kFp8:
    case serve::WeightFormat::kFp8Block:
      return 1;
    case serve::WeightFormat::kNvfp4:
      return 0.5;
    default:
      return 2;
  }
}

// As if all devices split one cache.
double RequestsThatFit(const driver::Server& server, double devices, double tokens) {
  const serve::Model& model = *server.model;
  const serve::WeightFormat format = server.precision.weights;
  const double stages = static_cast<double>(server.layout.parallelism.pipeline);
  const double heads = std::max(devices / stages, static_cast<double>(model.kv_heads));
  const double element = server.precision.cache == serve::CacheFormat::kFp8 ? 1 : 2;
  const double width = model.latent ? model.CacheWidth() : 2 * heads * static_cast<double>(model.head_size);
  const double token = static_cast<double>(model.layers) * width * element;
  const double left = driver::ReportedCapacity(*server.device) * devices - Stored(model, format) * BytesOf(format);
  return left * server.engine.memory_fraction / (token * tokens);
}

// Of formats that it has no rule for: the defaults.
bool Tuned(serve::WeightFormat format) { return BytesOf(format) < 2 || format == serve::WeightFormat::kBf16; }

}  // namespace

BenchLimits BenchLimitsOf(const driver::Server& server, double devices, double input, double output) {
  double most = 2048, budget = 8192;
  if (Tuned(server.precision.weights)) {
    const double fit = std::min(RequestsThatFit(server, devices, input + output), 4096.0);
    const double batch = fit / static_cast<double>(server.layout.parallelism.pipeline);
    const double tokens = std::min(batch * (1 + input / output), 32768.0);
    most = batch < 256 ? std::max(64.0, Up(batch, 32)) : Up(batch, batch < 1024 ? 128 : 256);
    budget = tokens < 4096 ? std::max(2048.0, Up(tokens, 256)) : Up(tokens, tokens < 8192 ? 512 : 1024);
  }
  return {.requests = static_cast<int64_t>(most), .tokens = static_cast<int64_t>(std::max(budget, input + most))};
}

}  // namespace hespas::validate
