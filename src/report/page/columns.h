// How a page's data are kept small: columns of numbers, and each text once.
#pragma once

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace hespas::report {

// Equal texts are written once and referred to by number.
class Strings {
 public:
  size_t Of(std::string_view text) {
    const auto [found, added] = index_.try_emplace(std::string(text), index_.size());
    if (added) all_.push_back(found->first);
    return found->second;
  }
  const nlohmann::ordered_json& all() const { return all_; }

 private:
  std::map<std::string, size_t, std::less<>> index_;
  nlohmann::ordered_json all_ = nlohmann::ordered_json::array();
};

// A JSON array of numbers, written as it grows.
class NumberColumn {
 public:
  template <class T>
  void Add(T value) {
    if (!text_.empty()) text_ += ',';
    fmt::format_to(std::back_inserter(text_), "{}", value);
  }
  std::string text() const { return "[" + text_ + "]"; }

 private:
  std::string text_;
};

}  // namespace hespas::report
