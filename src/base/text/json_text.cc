#include "base/text/json_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/text/json.h"
#include "base/text/suggest.h"

namespace hespas {
namespace {

using nlohmann::json;

const json kEmptyObject = json::object();

// Walks well-formed JSON text without building it.
class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  size_t at() const { return at_; }
  char Peek() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  void Step() { at_ = std::min(at_ + 1, text_.size()); }

  // The raw text between the quotes.
  std::string_view String() {
    Step();
    const size_t from = at_;
    while (at_ < text_.size() && text_[at_] != '"') at_ += text_[at_] == '\\' ? 2 : 1;
    at_ = std::min(at_, text_.size());
    const std::string_view raw = text_.substr(from, at_ - from);
    Step();
    return raw;
  }

  void SkipValue() {
    int depth = 0;
    do {
      const char c = Peek();
      if (c == '"') {
        String();
      } else if (c == '{' || c == '[') {
        ++depth;
        Step();
      } else if (c == '}' || c == ']') {
        --depth;
        Step();
      } else if (c == ',' || c == ':') {
        if (depth == 0) return;
        Step();
      } else {
        while (at_ < text_.size() && std::string_view(",:{}[]\" \t\r\n").find(text_[at_]) == std::string_view::npos)
          ++at_;
      }
    } while (depth > 0 && at_ < text_.size());
  }

 private:
  std::string_view text_;
  size_t at_ = 0;
};

// Moves to the value of member `step`; returns the offset of its key, or nullopt where there is none.
std::optional<size_t> Descend(Scanner& scanner, const std::string& step) {
  const bool object = scanner.Peek() == '{';
  if (!object && scanner.Peek() != '[') return std::nullopt;
  scanner.Step();
  for (size_t index = 0;; ++index) {
    const char c = scanner.Peek();
    if (c == '\0' || c == '}' || c == ']') return std::nullopt;
    const size_t start = scanner.at();
    bool found = false;
    if (object) {
      found = scanner.String() == step;
      if (scanner.Peek() == ':') scanner.Step();
      scanner.Peek();
    } else {
      found = std::to_string(index) == step;
    }
    if (found) return start;
    scanner.SkipValue();
    if (scanner.Peek() == ',') scanner.Step();
  }
}

// nlohmann's text without its "[json.exception...] parse error at line 1, column 2: " and byte offsets.
std::string PlainMessage(std::string_view what) {
  const size_t colon = what.find(": ");
  if (colon != std::string_view::npos) what = what.substr(colon + 2);
  return std::string(what.substr(0, 200));
}

std::string_view TypeName(const json& value) { return value.type_name(); }

}  // namespace

Location LocationAt(std::string_view text, const std::string& file, size_t offset) {
  offset = std::min(offset, text.size());
  const size_t line =
      static_cast<size_t>(std::count(text.begin(), text.begin() + static_cast<ptrdiff_t>(offset), '\n')) + 1;
  const size_t newline = offset == 0 ? std::string_view::npos : text.rfind('\n', offset - 1);
  const size_t start = newline == std::string_view::npos ? 0 : newline + 1;
  const size_t end = std::min(text.find('\n', start), text.size());
  return {file, line, offset - start + 1, std::string(text.substr(start, end - start))};
}

Result<json> ParseJson(std::string_view text, const std::string& file) {
  try {
    return ReadJsonOrThrow(text);
  } catch (const json::parse_error& error) {
    const size_t offset = error.byte > 0 ? error.byte - 1 : 0;
    const bool empty = text.find_first_not_of(" \t\r\n") == std::string_view::npos;
    return MakeError(kJsonSyntax,
                     empty ? "the file is empty" : fmt::format("malformed JSON: {}", PlainMessage(error.what())),
                     LocationAt(text, file, offset));
  } catch (const json::exception& error) {
    return MakeError(kJsonSyntax, fmt::format("malformed JSON: {}", PlainMessage(error.what())), {.file = file});
  }
}

Location LocateJson(std::string_view text, const std::string& file, std::span<const std::string> path) {
  Scanner scanner(text);
  scanner.Peek();
  size_t offset = scanner.at();
  for (const std::string& step : path) {
    const std::optional<size_t> found = Descend(scanner, step);
    if (!found) break;
    offset = *found;
  }
  return LocationAt(text, file, offset);
}

JsonObject::JsonObject(const JsonSource& source, const json& value, std::vector<std::string> path)
    : source_(&source), value_(&value), path_(std::move(path)) {
  if (value.is_object()) return;
  const std::string name = path_.empty() ? "the file" : fmt::format("`{}`", path_.back());
  source.diagnostics->Error(kJsonBadValue, fmt::format("{} must be an object, not {}", name, TypeName(value)),
                            LocateJson(source.text, source.file, path_));
  value_ = &kEmptyObject;
}

std::string JsonObject::Name(const std::string& key) const {
  std::string name;
  for (const std::string& step : path_) name += step + ".";
  return name + key;
}

void JsonObject::Report(const DiagnosticKind& kind, const std::string& key, std::string message, std::string help) {
  std::vector<std::string> path = path_;
  path.push_back(key);
  source_->diagnostics->Report(
      {&kind, std::move(message), LocateJson(source_->text, source_->file, path), std::move(help)});
}

const json* JsonObject::Raw(const std::string& key) {
  if (std::find(asked_.begin(), asked_.end(), key) == asked_.end()) asked_.push_back(key);
  const auto found = value_->find(key);
  return found == value_->end() ? nullptr : &*found;
}

bool JsonObject::Has(const std::string& key) { return Raw(key) != nullptr; }

std::optional<std::string> JsonObject::Text(const std::string& key) {
  const json* value = Raw(key);
  if (value == nullptr) return std::nullopt;
  if (value->is_string()) return value->get<std::string>();
  Report(kJsonBadValue, key, fmt::format("`{}` must be a string, not {}", Name(key), TypeName(*value)));
  return std::nullopt;
}

std::optional<bool> JsonObject::Flag(const std::string& key) {
  const json* value = Raw(key);
  if (value == nullptr) return std::nullopt;
  if (value->is_boolean()) return value->get<bool>();
  Report(kJsonBadValue, key, fmt::format("`{}` must be true or false, not {}", Name(key), TypeName(*value)));
  return std::nullopt;
}

std::optional<int64_t> JsonObject::Integer(const std::string& key, int64_t minimum, int64_t maximum) {
  const json* value = Raw(key);
  if (value == nullptr) return std::nullopt;
  std::optional<int64_t> number;
  if (value->is_number_integer() && !(value->is_number_unsigned() && value->get<uint64_t>() > uint64_t{INT64_MAX})) {
    number = value->get<int64_t>();
  }
  if (number && *number >= minimum && *number <= maximum) return number;
  Report(kJsonBadValue, key,
         fmt::format("`{}` must be an integer from {} to {}, not {}", Name(key), minimum, maximum, value->dump()));
  return std::nullopt;
}

std::optional<double> JsonObject::Quantity(const std::string& key, Unit unit, bool positive) {
  const json* value = Raw(key);
  if (value == nullptr) return std::nullopt;
  double number = 0;
  if (value->is_number()) {
    number = value->get<double>();
  } else if (value->is_string()) {
    const Result<double> parsed = ParseQuantity(value->get_ref<const std::string&>(), unit);
    if (!parsed) {
      Report(*parsed.error().kind, key, fmt::format("`{}`: {}", Name(key), parsed.error().message),
             parsed.error().help);
      return std::nullopt;
    }
    number = *parsed;
  } else {
    Report(kJsonBadValue, key, fmt::format("`{}` must be a number, not {}", Name(key), TypeName(*value)));
    return std::nullopt;
  }
  if (std::isfinite(number) && (positive ? number > 0 : number >= 0)) return number;
  Report(kJsonBadValue, key,
         fmt::format("`{}` must be {}, not {}", Name(key), positive ? "positive" : "0 or more", value->dump()));
  return std::nullopt;
}

std::optional<JsonObject> JsonObject::Object(const std::string& key) {
  const json* value = Raw(key);
  if (value == nullptr) return std::nullopt;
  std::vector<std::string> path = path_;
  path.push_back(key);
  return JsonObject(*source_, *value, std::move(path));
}

std::vector<std::string> JsonObject::Keys() const {
  std::vector<std::string> keys;
  for (const auto& member : value_->items()) keys.push_back(member.key());
  return keys;
}

void JsonObject::Require(const std::string& key) {
  if (Has(key)) return;
  source_->diagnostics->Error(kJsonMissingKey, fmt::format("`{}` is missing", Name(key)),
                              LocateJson(source_->text, source_->file, path_));
}

void JsonObject::Finish() {
  for (const std::string& key : Keys()) {
    if (std::find(asked_.begin(), asked_.end(), key) != asked_.end()) continue;
    Report(kJsonUnknownKey, key, fmt::format("unknown key `{}`", Name(key)),
           DidYouMean(key, asked_, fmt::format("the keys here are {}", fmt::join(asked_, ", "))));
  }
}

}  // namespace hespas
