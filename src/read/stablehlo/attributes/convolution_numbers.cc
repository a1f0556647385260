#include "read/stablehlo/attributes/convolution_numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <vector>

#include "read/stablehlo/errors.h"

namespace hespas::read {
namespace {

constexpr std::string_view kHelp = "name each dimension once: b and f, i and o, and the spatial ones 0, 1, ...";

// The letters of one list, and what it has named so far.
struct Labels {
  std::string_view letters;
  std::vector<std::string_view> named;
  size_t spatial = 0;

  bool Add(std::string_view label) {
    if (std::find(named.begin(), named.end(), label) != named.end()) return false;
    named.push_back(label);
    return true;
  }
};

bool ReadLabel(Cursor& c, Labels& labels) {
  c.Space();
  const size_t start = c.offset();
  std::string_view label;
  if (IsDigit(*c) || *c == '-') {
    if (!c.Integer(label)) return false;
    if (label.starts_with('-')) {
      return c.Fail(kBadAttribute, start, fmt::format("the spatial dimension `{}` is negative", label),
                    std::string(kHelp));
    }
    ++labels.spatial;
  } else {
    label = c.Word();
    if (label.size() != 1 || labels.letters.find(label) == std::string_view::npos) {
      c.MoveTo(start);
      return c.Fail(kBadAttribute, start,
                    fmt::format("expected `{}`, `{}` or a spatial dimension, found {}", labels.letters[0],
                                labels.letters[1], c.Found()),
                    std::string(kHelp));
    }
  }
  return labels.Add(label) ||
         c.Fail(kBadAttribute, start, fmt::format("dimension `{}` is named twice", label), std::string(kHelp));
}

bool ReadList(Cursor& c, std::string_view letters) {
  Labels labels{.letters = letters};
  if (c.Peek() != '[') {
    return c.Fail(kBadAttribute, c.offset(), fmt::format("expected `[`, found {}", c.Found()), std::string(kHelp));
  }
  const size_t start = c.offset();
  c.Advance();
  do {
    if (!ReadLabel(c, labels)) return false;
  } while (c.Eat(','));
  if (!c.Expect(']')) return false;
  for (const char letter : letters) {
    if (!labels.Add(std::string_view(&letter, 1))) continue;
    return c.Fail(kBadAttribute, start, fmt::format("dimension `{}` is missing", letter), std::string(kHelp));
  }
  // Distinct ones below their number are all of them.
  for (const std::string_view label : labels.named) {
    if (!IsDigit(label[0])) continue;
    size_t number = 0;
    const auto [end, error] = std::from_chars(label.data(), label.data() + label.size(), number);
    if (error == std::errc() && number < labels.spatial) continue;
    return c.Fail(kBadAttribute, start,
                  fmt::format("{} spatial dimensions are named, but one of them is `{}`", labels.spatial, label),
                  std::string(kHelp));
  }
  return true;
}

}  // namespace

bool ReadConvolutionNumbers(Cursor& c) {
  if (!ReadList(c, "bf")) return false;
  if (c.Peek() != 'x') return c.FailExpected("x");
  c.Advance();
  return ReadList(c, "io") && c.ExpectArrow() && ReadList(c, "bf");
}

}  // namespace hespas::read
