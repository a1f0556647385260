#include "hardware/system.h"

#include <charconv>

namespace hespas::hardware {

uint64_t System::npus() const {
  uint64_t count = 1;
  for (const NetworkDimension& dimension : dimensions) {
    if (__builtin_mul_overflow(count, uint64_t{dimension.npus}, &count)) return ~uint64_t{0};
  }
  return count;
}

namespace {

// The window of "direct<W>": at most five characters, of which the leading number counts, as ASTRA-sim reads it.
std::optional<int32_t> WindowOf(std::string_view text) {
  text = text.substr(0, 5);
  int32_t window = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), window);
  if (error != std::errc()) return std::nullopt;
  return window;
}

}  // namespace

std::optional<Algorithm> ParseAlgorithm(std::string_view name) {
  struct Entry {
    std::string_view name;
    Algorithm algorithm;
  };
  static constexpr Entry kAlgorithms[] = {
      {"ring", {AlgorithmKind::kRing, false}},
      {"direct", {AlgorithmKind::kDirect, false}},
      {"halvingDoubling", {AlgorithmKind::kHalvingDoubling, false}},
      {"doubleBinaryTree", {AlgorithmKind::kDoubleBinaryTree, false}},
      {"oneRing", {AlgorithmKind::kRing, true}},
      {"oneDirect", {AlgorithmKind::kDirect, true}},
      {"oneHalvingDoubling", {AlgorithmKind::kHalvingDoubling, true}},
  };
  for (const Entry& entry : kAlgorithms) {
    if (name == entry.name) return entry.algorithm;
    if (entry.algorithm.kind != AlgorithmKind::kDirect || !name.starts_with(entry.name)) continue;
    const auto window = WindowOf(name.substr(entry.name.size()));
    if (!window) return std::nullopt;
    Algorithm algorithm = entry.algorithm;
    algorithm.window = *window;
    return algorithm;
  }
  return std::nullopt;
}

}  // namespace hespas::hardware
