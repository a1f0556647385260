#include "hardware/placed_json.h"

#include <algorithm>

#include "base/text/json.h"

namespace hespas::hardware {
namespace {

constexpr size_t kDeepest = 200;  // nesting, so that hostile input cannot exhaust the stack

bool TooDeep(std::string_view text) {
  size_t depth = 0;
  bool in_string = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string && c == '\\') {
      ++i;
    } else if (c == '"') {
      in_string = !in_string;
    } else if (!in_string && (c == '[' || c == '{')) {
      if (++depth > kDeepest) return true;
    } else if (!in_string && (c == ']' || c == '}') && depth > 0) {
      --depth;
    }
  }
  return false;
}

// The library's message without its prefix "[json.exception...] parse error at line 1, column 2: ".
std::string Reason(std::string_view what) {
  const size_t colon = what.find(": ");
  return std::string(colon == std::string_view::npos ? what : what.substr(colon + 2));
}

}  // namespace

Location LocateOffset(std::string_view text, size_t offset, const std::string& file) {
  offset = std::min(offset, text.size());
  const size_t line_start = offset == 0 ? 0 : text.rfind('\n', offset - 1) + 1;
  const size_t line_end = std::min(text.find('\n', offset), text.size());
  return {
      .file = file,
      .line =
          static_cast<size_t>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(offset), '\n')) + 1,
      .column = offset - line_start + 1,
      .source_line = std::string(text.substr(line_start, std::min<size_t>(line_end - line_start, 200)))};
}

Result<PlacedJson> PlacedJson::Parse(std::string_view text, const std::string& file, const DiagnosticKind& kind) {
  if (TooDeep(text)) return MakeError(kind, "JSON nested too deeply", {.file = file});
  PlacedJson source;
  source.text_ = text;
  source.file_ = file;
  try {
    source.root_ = ReadJsonOrThrow(text, true);
  } catch (const nlohmann::json::parse_error& error) {
    const bool yaml = file.ends_with(".yml") || file.ends_with(".yaml");
    return MakeError(
        kind, "not valid JSON: " + Reason(error.what()), LocateOffset(text, error.byte > 0 ? error.byte - 1 : 0, file),
        yaml ? "write it as JSON; ASTRA-sim's network.yml is read in a folder, which is named instead" : "");
  } catch (const std::exception& error) {
    return MakeError(kind, std::string("not valid JSON: ") + error.what(), {.file = file});
  }
  return source;
}

Location PlacedJson::LocationOf(std::string_view key) const {
  const std::string quoted = '"' + std::string(key) + '"';
  for (size_t at = text_.find(quoted); at != std::string::npos; at = text_.find(quoted, at + 1)) {
    const size_t next = text_.find_first_not_of(" \t\r\n", at + quoted.size());
    if (next != std::string::npos && text_[next] == ':') return LocateOffset(text_, at, file_);
  }
  return {.file = file_};
}

}  // namespace hespas::hardware
