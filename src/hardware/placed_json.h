// A JSON text with its places: parses, and finds the line and column of a key for messages.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/result.h"

namespace hespas::hardware {

// Line and column of `offset` in `text`, with that line's text.
Location LocateOffset(std::string_view text, size_t offset, const std::string& file);

class PlacedJson {
 public:
  static Result<PlacedJson> Parse(std::string_view text, const std::string& file, const DiagnosticKind& kind);

  const nlohmann::json& root() const { return root_; }
  const std::string& file() const { return file_; }
  // Where `key` stands as a key; the file alone if it does not.
  Location LocationOf(std::string_view key) const;

 private:
  std::string text_;
  std::string file_;
  nlohmann::json root_;
};

}  // namespace hespas::hardware
