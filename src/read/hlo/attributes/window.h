// The window of a convolution or reduce-window, and convolution dimension labels.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hespas::read::hlo {

struct Window {
  std::vector<int64_t> size;
  std::vector<int64_t> stride;
  std::vector<int64_t> pad_low;
  std::vector<int64_t> pad_high;
  std::vector<int64_t> lhs_dilate;
  std::vector<int64_t> rhs_dilate;
  std::vector<int64_t> rhs_reversal;
  bool has_reversal = false;
};

// `{size=3x3 stride=2x2 pad=0_1x0_1 lhs_dilate=1x2 rhs_reversal=1x1}`; what is omitted is 1 (0 for pad, reversal).
std::optional<Window> ParseWindow(std::string_view text);

// `0_1x2_2_1`: low, high and perhaps interior padding of each dimension.
struct Padding {
  std::vector<int64_t> low;
  std::vector<int64_t> high;
  std::vector<int64_t> interior;
};
std::optional<Padding> ParsePadding(std::string_view text);

// `b01f_01io->b01f` as `#stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>`; empty where malformed.
std::string DimensionLabels(std::string_view text);

// `dense<[[0, 1], [0, 1]]> : tensor<2x2xi64>`
std::string PaddingText(const Window& window);

}  // namespace hespas::read::hlo
