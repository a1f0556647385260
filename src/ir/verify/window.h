// Windows of convolution, reduce_window and select_and_scatter, checked while they are read.
#pragma once

#include "ir/attributes/op_attributes.h"
#include "ir/verify/check.h"

namespace hespas::ir::verify {

// How an op spells its window.
struct WindowNames {
  std::string_view base_dilation;
  std::string_view window_dilation;
  std::string_view reversal;
};
inline constexpr WindowNames kConvolutionWindow{"lhs_dilation", "rhs_dilation", "window_reversal"};
inline constexpr WindowNames kReductionWindow{"base_dilations", "window_dilations", {}};

// The window of the given sizes with strides, padding and dilations of the op, each positive and one a dimension.
std::optional<Window> ReadWindow(Check& check, const Dimensions& sizes, const WindowNames& names);

// How often the window fits into a padded, dilated dimension; kDynamic where a size is.
int64_t WindowedSize(int64_t size, const WindowDimension& window);

}  // namespace hespas::ir::verify
