#include "base/text/suggest.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <numeric>
#include <vector>

namespace hespas {
namespace {

std::string Lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replace = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replace});
    }
  }
  return row[b.size()];
}

}  // namespace

std::optional<std::string> Nearest(std::string_view word, std::span<const std::string> candidates) {
  constexpr size_t kLongest = 200;  // bounds the work on hostile input
  if (word.size() > kLongest) return std::nullopt;
  const std::string lower = Lower(word);
  const std::string* best = nullptr;
  size_t best_distance = std::max<size_t>(2, word.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    if (candidate.size() > kLongest) continue;
    const std::string other = Lower(candidate);
    size_t distance = EditDistance(lower, other);
    if (lower.size() >= 3 && other.starts_with(lower)) distance = std::min<size_t>(distance, 1);
    if (distance < best_distance) {
      best = &candidate;
      best_distance = distance;
    }
  }
  if (best == nullptr) return std::nullopt;
  return *best;
}

std::string DidYouMean(std::string_view word, std::span<const std::string> candidates, std::string otherwise) {
  if (const auto near = Nearest(word, candidates)) return fmt::format("did you mean `{}`?", *near);
  return otherwise;
}

}  // namespace hespas
