// Words that stand for the values of an option, told once for the command line, files and Python.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hespas::driver {

template <class Value>
struct Word {
  std::string_view text;
  Value value;
};

// Of an enumeration, in the order in which messages and completions list them: an array of Word<Value> beside it.
template <class Value>
inline constexpr std::nullptr_t kWords = nullptr;

// Nothing where no value is called that.
template <class Value>
std::optional<Value> ValueOf(std::string_view text) {
  const auto found = std::ranges::find(kWords<Value>, text, &Word<Value>::text);
  return found != std::end(kWords<Value>) ? std::optional(found->value) : std::nullopt;
}

// Empty for a value without a word.
template <class Value>
std::string_view TextOf(Value value) {
  const auto found = std::ranges::find(kWords<Value>, value, &Word<Value>::value);
  return found != std::end(kWords<Value>) ? found->text : std::string_view();
}

template <class Value>
std::vector<std::string> TextsOf() {
  std::vector<std::string> texts;
  texts.reserve(std::size(kWords<Value>));
  for (const Word<Value>& word : kWords<Value>) texts.emplace_back(word.text);
  return texts;
}

}  // namespace hespas::driver
