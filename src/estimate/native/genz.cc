#include "estimate/native/genz.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "estimate/native/matrix_model.h"

namespace hespas::estimate::native {
namespace {

constexpr double kBinaryPerDecimalGiga = 1073741824.0 / 1e9;
constexpr double kStartSeconds = 5e-6;

// GenZ counts multiply-adds at half the peak of 16-bit floats, scaled by the width of the type.
struct Width {
  double arithmetic;  // relative to bf16
  double bytes;
};

Width WidthOf(calibrated::Datatype type) {
  const double bytes = calibrated::Entry(type).bytes;
  return {.arithmetic = bytes / 2, .bytes = bytes};
}

class Genz : public MatrixModel {
 public:
  Genz(double peak_flops, double memory_bandwidth) : peak_flops_(peak_flops), memory_bandwidth_(memory_bandwidth) {}

  std::string_view name() const override { return "genz"; }

  MatrixCost Cost(const MatmulShape& matmul) const override {
    const Width width = WidthOf(matmul.type);
    const double elements = matmul.m * matmul.k + matmul.k * matmul.n + matmul.m * matmul.n;
    MatrixCost cost;
    cost.compute_seconds = matmul.batch * matmul.m * matmul.n * matmul.k * width.arithmetic / (peak_flops_ / 2);
    cost.memory_seconds = matmul.batch * elements * width.bytes / memory_bandwidth_;
    cost.seconds = std::max(cost.compute_seconds, cost.memory_seconds);
    return cost;
  }

  std::string Fingerprint() const override { return fmt::format("genz 1|{}|{}", peak_flops_, memory_bandwidth_); }

 private:
  double peak_flops_;
  double memory_bandwidth_;
};

}  // namespace

MadeModel MakeGenz(const hardware::Device& device) {
  const hardware::GenzFigures figures = device.genz.value_or(hardware::GenzFigures{});
  const double peak = figures.peak_flops.value_or(device.MatrixRateFor("bf16")).value;
  const double memory = figures.memory_bandwidth ? figures.memory_bandwidth->value
                                                 : device.memory_bandwidth.value * kBinaryPerDecimalGiga;
  return MadeModel(std::make_unique<Genz>(peak, memory));
}

GenzLink GenzLinkOf(const hardware::Device& device) {
  const hardware::GenzFigures figures = device.genz.value_or(hardware::GenzFigures{});
  GenzLink link;
  if (device.interconnect) {
    link.bytes_per_second = device.interconnect->bandwidth.value * kBinaryPerDecimalGiga;
    if (device.interconnect->latency) link.latency_s = device.interconnect->latency->seconds();
  }
  if (figures.link_bandwidth) link.bytes_per_second = figures.link_bandwidth->value;
  if (figures.link_latency) link.latency_s = figures.link_latency->seconds();
  return link;
}

double GenzCollective(const GenzLink& link, const calibrated::CollectiveSpec& spec) {
  if (spec.op == calibrated::CollectiveOp::kPermute) return link.latency_s + spec.bytes / link.bytes_per_second;
  const double passes = spec.op == calibrated::CollectiveOp::kAllReduce ? 2 : 1;
  const double steps = passes * (spec.ranks - 1);
  return kStartSeconds + steps * link.latency_s + steps * spec.bytes / (spec.ranks * link.bytes_per_second);
}

}  // namespace hespas::estimate::native
