// "Did you mean": the nearest of a list of names by edit distance.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace hespas {

// The candidate nearest to `word` (case aside), if it is near enough to be a likely misspelling.
std::optional<std::string> Nearest(std::string_view word, std::span<const std::string> candidates);

// "did you mean `x`?" or, with no near candidate, `otherwise`.
std::string DidYouMean(std::string_view word, std::span<const std::string> candidates, std::string otherwise = {});

}  // namespace hespas
