#include "read/hlo/attributes/window.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace hespas::read::hlo {
namespace {

bool ParseInteger(std::string_view text, int64_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

// "3x3" or, with `high`, "0_1x0_1".
bool ParseSizes(std::string_view text, std::vector<int64_t>& low, std::vector<int64_t>* high) {
  low.clear();
  while (true) {
    const size_t end = std::min(text.find('x'), text.size());
    std::string_view part = text.substr(0, end);
    int64_t value = 0;
    if (high != nullptr) {
      const size_t bar = part.find('_');
      int64_t second = 0;
      if (bar == std::string_view::npos || !ParseInteger(part.substr(bar + 1), second)) return false;
      high->push_back(second);
      part = part.substr(0, bar);
    }
    if (!ParseInteger(part, value)) return false;
    low.push_back(value);
    if (end == text.size()) return true;
    text.remove_prefix(end + 1);
  }
}

bool ParseField(std::string_view key, std::string_view value, Window& window) {
  if (key == "size") return ParseSizes(value, window.size, nullptr);
  if (key == "stride") return ParseSizes(value, window.stride, nullptr);
  if (key == "lhs_dilate") return ParseSizes(value, window.lhs_dilate, nullptr);
  if (key == "rhs_dilate") return ParseSizes(value, window.rhs_dilate, nullptr);
  if (key == "pad") return ParseSizes(value, window.pad_low, &window.pad_high);
  window.has_reversal = true;
  return key == "rhs_reversal" && ParseSizes(value, window.rhs_reversal, nullptr);
}

// Fills what was omitted; false where a list has another length.
bool Complete(Window& window) {
  const size_t rank = window.size.size();
  const auto fill = [rank](std::vector<int64_t>& list, int64_t value) {
    if (list.empty()) list.assign(rank, value);
    return list.size() == rank;
  };
  return fill(window.stride, 1) && fill(window.lhs_dilate, 1) && fill(window.rhs_dilate, 1) &&
         fill(window.pad_low, 0) && fill(window.pad_high, 0) && fill(window.rhs_reversal, 0);
}

std::string Labels(std::string_view labels, std::string_view letters) {
  std::string out = "[";
  for (const char c : labels) {
    if (letters.find(c) == std::string_view::npos && (c < '0' || c > '9') && c != '?') return {};
    out += fmt::format("{}{}", out.size() > 1 ? ", " : "", c);
  }
  return out + "]";
}

}  // namespace

std::optional<Window> ParseWindow(std::string_view text) {
  Window window;
  if (text.size() < 2 || text.front() != '{' || text.back() != '}') return std::nullopt;
  text = text.substr(1, text.size() - 2);
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    const std::string_view field = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (field.empty()) continue;
    const size_t equals = field.find('=');
    if (equals == std::string_view::npos) return std::nullopt;
    if (!ParseField(field.substr(0, equals), field.substr(equals + 1), window)) return std::nullopt;
  }
  if (!Complete(window)) return std::nullopt;
  return window;
}

std::optional<Padding> ParsePadding(std::string_view text) {
  Padding out;
  while (!text.empty()) {
    const size_t end = std::min(text.find('x'), text.size());
    std::string_view entry = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    int64_t values[3] = {0, 0, 0};
    size_t count = 0;
    while (count < 3) {
      const size_t bar = std::min(entry.find('_'), entry.size());
      if (!ParseInteger(entry.substr(0, bar), values[count++])) return std::nullopt;
      if (bar == entry.size()) break;
      entry.remove_prefix(bar + 1);
      if (count == 3) return std::nullopt;
    }
    if (count < 2) return std::nullopt;
    out.low.push_back(values[0]);
    out.high.push_back(values[1]);
    out.interior.push_back(values[2]);
  }
  return out;
}

std::string DimensionLabels(std::string_view text) {
  const size_t bar = text.find('_');
  const size_t arrow = text.find("->");
  if (bar == std::string_view::npos || arrow == std::string_view::npos || arrow < bar) return {};
  const std::string input = Labels(text.substr(0, bar), "bf");
  const std::string kernel = Labels(text.substr(bar + 1, arrow - bar - 1), "io");
  const std::string output = Labels(text.substr(arrow + 2), "bf");
  if (input.empty() || kernel.empty() || output.empty()) return {};
  return fmt::format("#stablehlo.conv<{}x{}->{}>", input, kernel, output);
}

std::string PaddingText(const Window& window) {
  const size_t rank = window.size.size();
  if (rank == 0) return "dense<> : tensor<0x2xi64>";
  std::string rows;
  for (size_t i = 0; i < rank; ++i) {
    rows += fmt::format("{}[{}, {}]", i == 0 ? "" : ", ", window.pad_low[i], window.pad_high[i]);
  }
  return fmt::format("dense<[{}]> : tensor<{}x2xi64>", rows, rank);
}

}  // namespace hespas::read::hlo
