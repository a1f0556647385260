#include "ir/verify/window.h"

#include "base/units.h"
#include "ir/attributes/attribute.h"

namespace hespas::ir::verify {
namespace {

// `size` elements with dilation - 1 holes between each two.
int64_t Dilated(int64_t size, int64_t dilation) {
  if (size <= 0) return 0;
  return internal::SaturatingAdd(internal::SaturatingMultiply(size - 1, dilation), 1);
}

bool ReadMember(Check& check, std::string_view name, Window& window, int64_t WindowDimension::*member) {
  if (!check.has(name)) return true;
  const auto values = check.Integers(name);
  if (!values) return false;
  if (values->empty()) return true;  // the default, as for the reference implementation
  if (values->size() != window.size()) {
    return check.Fail(kBadDimension, "`{}` has {} entries for a window of {} dimensions", name, values->size(),
                      window.size());
  }
  for (size_t i = 0; i < window.size(); ++i) {
    if ((*values)[i] < 1) {
      return check.Fail(kBadAttribute, "`{}` must be positive, but is {} in dimension {}", name, (*values)[i], i);
    }
    window[i].*member = (*values)[i];
  }
  return true;
}

bool ReadPadding(Check& check, Window& window) {
  const std::string_view* text = check.attribute("padding");
  if (!text) return true;
  const auto matrix = AsIntegerMatrix(*text);
  const int64_t rows = static_cast<int64_t>(window.size());
  if (!matrix) {
    return check.Report(kBadAttribute, "`padding` must be a list of pairs", "write one [low, high] for each dimension");
  }
  if (matrix->values.empty() && (rows == 0 || matrix->rows == 0)) return true;
  if (matrix->columns != 2) {
    return check.Fail(kBadDimension, "`padding` must have the shape [{}, 2], but has [{}, {}]", rows, matrix->rows,
                      matrix->columns);
  }
  if (matrix->rows != rows) {
    return check.Fail(kBadDimension, "`padding` has {} entries for a window of {} dimensions", matrix->rows, rows);
  }
  for (size_t i = 0; i < window.size(); ++i) {
    window[i].padding_low = matrix->values[2 * i];
    window[i].padding_high = matrix->values[2 * i + 1];
  }
  return true;
}

bool CheckReversal(Check& check, std::string_view name, size_t rank) {
  if (name.empty() || !check.has(name)) return true;
  const auto values = check.Integers(name);
  if (!values || values->empty() || values->size() == rank) return values.has_value();
  return check.Fail(kBadDimension, "`{}` has {} entries for a window of {} dimensions", name, values->size(), rank);
}

}  // namespace

std::optional<Window> ReadWindow(Check& check, const Dimensions& sizes, const WindowNames& names) {
  Window window(sizes.size());
  for (size_t i = 0; i < sizes.size(); ++i) {
    window[i].size = sizes[i];
    if (sizes[i] < 1 && sizes[i] != kDynamic) {
      check.Fail(kBadAttribute, "the window must be positive, but has size {} in dimension {}", sizes[i], i);
      return std::nullopt;
    }
  }
  const bool ok = ReadMember(check, "window_strides", window, &WindowDimension::stride) &&
                  ReadMember(check, names.base_dilation, window, &WindowDimension::base_dilation) &&
                  ReadMember(check, names.window_dilation, window, &WindowDimension::window_dilation) &&
                  ReadPadding(check, window) && CheckReversal(check, names.reversal, sizes.size());
  return ok ? std::optional(std::move(window)) : std::nullopt;
}

int64_t WindowedSize(int64_t size, const WindowDimension& window) {
  if (size == kDynamic || window.size == kDynamic) return kDynamic;
  const int64_t padding = internal::SaturatingAdd(window.padding_low, window.padding_high);
  const int64_t padded = internal::SaturatingAdd(Dilated(size, window.base_dilation), padding);
  const int64_t extent = Dilated(window.size, window.window_dilation);
  return padded <= 0 || extent > padded ? 0 : (padded - extent) / window.stride + 1;
}

}  // namespace hespas::ir::verify
