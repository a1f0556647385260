#include "report/compare/written_arrays.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>

namespace hespas::report {
namespace {

// "f16[8,64]" of "tensor<8x64xf16>".
std::string InBrackets(std::string_view tensor) {
  const size_t type = tensor.rfind('x');
  if (type == std::string_view::npos) return fmt::format("{}[]", tensor);
  std::string extents(tensor.substr(0, type));
  std::replace(extents.begin(), extents.end(), 'x', ',');
  return fmt::format("{}[{}]", tensor.substr(type + 1), extents);
}

}  // namespace

std::string Results(const std::string& shapes) {
  const size_t arrow = shapes.rfind("->");
  std::string_view text(shapes);
  if (arrow != std::string::npos) text.remove_prefix(arrow + 2);
  const size_t bundle = text.find("async_bundle<");
  if (bundle != std::string_view::npos) text = text.substr(std::max(text.rfind(">, "), bundle + 12));
  std::string out;
  const auto add = [&](const std::string& array) { out += (out.empty() ? "" : ", ") + array; };
  for (size_t at = text.find("tensor<"); at != std::string_view::npos; at = text.find("tensor<", at + 1)) {
    const std::string array = InBrackets(text.substr(at + 7, text.find('>', at) - at - 7));
    if (!array.starts_with("ui8[")) add(array);
  }
  if (out.empty()) out = text.substr(std::min(text.find_first_not_of(" ("), text.size()));
  while (out.ends_with(')')) out.pop_back();
  return out;
}

std::vector<std::vector<int64_t>> Arrays(std::string_view shapes) {
  std::vector<std::vector<int64_t>> arrays;
  for (size_t at = shapes.find('['); at != std::string_view::npos; at = shapes.find('[', at + 1)) {
    std::vector<int64_t> extents;
    std::istringstream inside(std::string(shapes.substr(at + 1, shapes.find(']', at) - at - 1)));
    for (std::string extent; std::getline(inside, extent, ',');) {
      if (const int64_t size = std::atoll(extent.c_str()); size != 1) extents.push_back(size);
    }
    std::sort(extents.begin(), extents.end());
    arrays.push_back(std::move(extents));
  }
  return arrays;
}

double Elements(const std::vector<int64_t>& extents) {
  double elements = 1;
  for (const int64_t extent : extents) elements *= static_cast<double>(std::max<int64_t>(1, extent));
  return elements;
}

std::vector<int64_t> LargestOf(const std::vector<std::vector<int64_t>>& arrays) {
  const auto largest = std::max_element(arrays.begin(), arrays.end(),
                                        [](const auto& a, const auto& b) { return Elements(a) < Elements(b); });
  return largest == arrays.end() ? std::vector<int64_t>() : *largest;
}

std::string LargestIn(const std::string& shapes) {
  return fmt::format("{}", fmt::join(LargestOf(Arrays(shapes)), ","));
}

}  // namespace hespas::report
