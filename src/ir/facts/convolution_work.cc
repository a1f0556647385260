#include "ir/facts/convolution_work.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "base/units.h"
#include "ir/attributes/op_attributes.h"

namespace hespas::ir {
namespace {

using internal::SaturatingAdd;

int64_t Times(int64_t a, int64_t b) { return internal::SaturatingMultiply(a, b); }

int64_t SizeOr(const Type& type, int64_t d, int64_t otherwise) {
  if (d < 0 || static_cast<size_t>(d) >= type.dims.size()) return otherwise;
  const int64_t size = type.dims[static_cast<size_t>(d)];
  return size == kDynamic ? otherwise : size;
}

// Pairs of output and kernel positions along one dimension that do not meet a zero of base dilation. (Padding counts:
// kernels multiply it.) `o * stride + k * dilation = padding (mod base)` repeats in o with period base / gcd.
int64_t WorkingPositions(int64_t output, const WindowDimension& w) {
  if (w.base_dilation <= 1 || output <= 0 || w.size <= 0) return Times(output, w.size);
  const int64_t base = w.base_dilation;
  const auto remainder = [&](int64_t x) { return ((x % base) + base) % base; };
  const int64_t stride = remainder(w.stride);
  const int64_t stride_gcd = std::gcd(stride, base);
  const int64_t kernel_gcd = std::gcd(remainder(w.window_dilation), base);
  constexpr int64_t kMany = 1 << 16;
  if (Times(base, base) > kMany) return std::max<int64_t>(Times(output, w.size) / base, 1);
  // How many output (kernel) positions fall on each remainder.
  std::vector<int64_t> outputs(static_cast<size_t>(base), 0);
  std::vector<int64_t> kernels(static_cast<size_t>(base), 0);
  const auto spread = [&](int64_t count, int64_t step, int64_t gcd, std::vector<int64_t>& on) {
    const int64_t period = base / gcd;
    for (int64_t i = 0; i < std::min(period, count); ++i) {
      on[static_cast<size_t>(remainder(i * step))] += count / period + (i < count % period);
    }
  };
  spread(output, stride, stride_gcd, outputs);
  spread(w.size, remainder(w.window_dilation), kernel_gcd, kernels);
  int64_t working = 0;
  for (int64_t r = 0; r < base; ++r) {
    const int64_t other = remainder(w.padding_low - r);
    working = SaturatingAdd(working, Times(outputs[static_cast<size_t>(r)], kernels[static_cast<size_t>(other)]));
  }
  return working;
}

// The same, no more than each of `input` elements meeting every output whose window can reach it.
int64_t Meetings(int64_t input, int64_t output, const WindowDimension& w) {
  const int64_t working = WorkingPositions(output, w);
  if (w.size <= 0 || w.stride <= 0 || w.window_dilation <= 0) return working;
  const int64_t span = SaturatingAdd(Times(w.size - 1, w.window_dilation), 1);
  const int64_t reach = (span - 1) / w.stride + 1;
  const int64_t by_input = Times(input, std::min(reach, output));
  const int64_t by_output = Times(output, std::min(w.size, input));
  return std::min({working, by_input, by_output});
}

}  // namespace

int64_t ConvolutionMultiplyAdds(const Module& module, OpId op) {
  const auto operands = module.operands(op);
  const auto dims = ConvolutionDimensionsOf(module, op);
  if (!dims || operands.size() < 2 || module.results(op).empty()) return 0;
  const Type& input = module.type(operands[0]);
  const Type& kernel = module.type(operands[1]);
  const Type& output = module.type(module.result(op));
  int64_t macs = Times(SizeOr(output, dims->output_batch, 1), SizeOr(output, dims->output_feature, 1));
  macs = Times(macs, SizeOr(kernel, dims->kernel_input_feature, 1));
  const auto window = WindowOf(module, op);
  for (size_t i = 0; i < dims->kernel_spatial.size(); ++i) {
    WindowDimension w = window && i < window->size() ? (*window)[i] : WindowDimension{};
    w.size = SizeOr(kernel, dims->kernel_spatial[i], 1);
    const int64_t out = i < dims->output_spatial.size() ? SizeOr(output, dims->output_spatial[i], 1) : 1;
    const int64_t in = i < dims->input_spatial.size() ? SizeOr(input, dims->input_spatial[i], 1) : 1;
    macs = Times(macs, Meetings(in, out, w));
  }
  return macs;
}

}  // namespace hespas::ir
