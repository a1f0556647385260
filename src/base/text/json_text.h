// JSON inputs whose defects are reported with line and column.
//
// - ParseJson turns syntax errors into a Result; JsonObject reads the members of one object, checks type and range,
//   accepts unit texts ("3.35 TB/s") for quantities, and reports every key nobody asked for.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/text/unit_text.h"

namespace hespas {

inline constexpr DiagnosticKind kJsonSyntax{
    "E0801",
    "The file is not well-formed JSON: the message names the place. Usual causes are a missing comma, a comma after "
    "the last member, single quotes, or a file that was cut off."};
inline constexpr DiagnosticKind kJsonUnknownKey{
    "E0802",
    "A key that this kind of file does not have, most often a misspelling. `hespas schema NAME` prints the keys."};
inline constexpr DiagnosticKind kJsonBadValue{
    "E0803",
    "The value of a key has the wrong type or lies outside its range. `hespas schema NAME` prints what is expected."};
inline constexpr DiagnosticKind kJsonMissingKey{"E0804", "A key that this kind of file must have is missing."};

// Line, column and text of the line at a byte offset.
Location LocationAt(std::string_view text, const std::string& file, size_t offset);

Result<nlohmann::json> ParseJson(std::string_view text, const std::string& file);

// Where a member stands; `path` names keys and array indices from the root. The text must be well-formed.
Location LocateJson(std::string_view text, const std::string& file, std::span<const std::string> path);

struct JsonSource {
  std::string_view text;
  std::string file;
  Diagnostics* diagnostics = nullptr;
};

class JsonObject {
 public:
  // A value that is no object is reported and reads as an empty one. `source` and `value` must outlive the reader.
  JsonObject(const JsonSource& source, const nlohmann::json& value, std::vector<std::string> path = {});

  bool Has(const std::string& key);
  std::optional<std::string> Text(const std::string& key);
  std::optional<bool> Flag(const std::string& key);
  std::optional<int64_t> Integer(const std::string& key, int64_t minimum, int64_t maximum);
  // A finite number or unit text of at least `minimum` (more than it when it is 0 and `positive`).
  std::optional<double> Quantity(const std::string& key, Unit unit, bool positive = false);
  std::optional<JsonObject> Object(const std::string& key);
  // The value as it is, or nullptr.
  const nlohmann::json* Raw(const std::string& key);
  // All keys present, for objects whose keys are data (rate tables).
  std::vector<std::string> Keys() const;

  void Require(const std::string& key);
  void Report(const DiagnosticKind& kind, const std::string& key, std::string message, std::string help = {});
  // Reports the keys that were never asked for, each with a suggestion.
  void Finish();

 private:
  std::string Name(const std::string& key) const;

  const JsonSource* source_;
  const nlohmann::json* value_;
  std::vector<std::string> path_;
  std::vector<std::string> asked_;
};

}  // namespace hespas
