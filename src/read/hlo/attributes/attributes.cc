#include "read/hlo/attributes/attributes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "read/hlo/attributes/window.h"
#include "read/hlo/text/scanner.h"

namespace hespas::read::hlo {
namespace {

bool IsSeparator(char c) { return c == ',' || c == ' ' || c == ':' || c == '\n' || c == '\t' || c == '\r'; }

std::string Upper(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return out;
}

bool IsWord(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return IsNameChar(c); });
}

// A string whose escapes MLIR has too may stand as it is.
bool IsPlainString(std::string_view text) {
  if (text.size() < 2 || text.front() != '"' || text.back() != '"') return false;
  for (size_t at = text.find('\\'); at != std::string_view::npos; at = text.find('\\', at + 2)) {
    if (at + 1 >= text.size() || std::string_view("\\\"nt").find(text[at + 1]) == std::string_view::npos) return false;
  }
  return text.find('\n') == std::string_view::npos && EndOfString(text, 0) == text.size();
}

// The characters that a C-style string represents; octal and hexadecimal escapes are kept as they are written.
std::string Unescaped(std::string_view quoted) {
  std::string out;
  for (size_t i = 1; i + 1 < quoted.size(); ++i) {
    const bool escape = quoted[i] == '\\' && i + 2 < quoted.size();
    const char c = escape ? quoted[++i] : quoted[i];
    if (!escape || c == '\'' || c == '"' || c == '\\') {
      out += c;
    } else if (c == 'n') {
      out += '\n';
    } else {
      out += {'\\', c};
    }
  }
  return out;
}

std::string EnumText(std::string_view dialect, std::string_view name, std::string_view value) {
  return fmt::format("#{}<{} {}>", dialect, name, value);
}

// StableHLO numbers the versions of the custom-call interface.
std::string ApiVersionText(std::string_view value) {
  constexpr std::string_view kVersions[] = {"API_VERSION_UNSPECIFIED", "API_VERSION_ORIGINAL",
                                            "API_VERSION_STATUS_RETURNING", "API_VERSION_STATUS_RETURNING_UNIFIED",
                                            "API_VERSION_TYPED_FFI"};
  const auto found = std::find(std::begin(kVersions), std::end(kVersions), value);
  return found == std::end(kVersions) ? "" : fmt::format("{} : i32", found - std::begin(kVersions));
}

// The value of `"key":` in JSON text, unquoted; empty where there is none.
std::string_view JsonScalar(std::string_view json, std::string_view key) {
  const size_t at = json.find(key);
  if (at == std::string_view::npos) return {};
  size_t begin = json.find_first_not_of(" \t\n\":", at + key.size());
  if (begin == std::string_view::npos) return {};
  const size_t end = std::min(json.find_first_of("\",} \n", begin), json.size());
  return json.substr(begin, end - begin);
}

}  // namespace

std::optional<std::vector<int64_t>> Integers(std::string_view text) {
  std::vector<int64_t> out;
  if (text.size() < 2) return std::nullopt;
  const char* at = text.data() + 1;
  const char* const end = text.data() + text.size() - 1;
  while (at != end) {
    if (IsSeparator(*at)) {
      ++at;
      continue;
    }
    int64_t value = 0;
    const auto [next, error] = std::from_chars(at, end, value);
    if (error != std::errc()) return std::nullopt;
    out.push_back(value);
    at = next;
  }
  return out;
}

std::string ArrayText(std::span<const int64_t> values) {
  return values.empty() ? "array<i64>" : fmt::format("array<i64: {}>", fmt::join(values, ", "));
}

std::string ListText(std::span<const int64_t> values) { return fmt::format("[{}]", fmt::join(values, ", ")); }

void AttributeBuilder::Problem(std::string_view key, std::string_view value) {
  constexpr size_t kShown = 60;
  const bool cut = value.size() > kShown;
  problems_.push_back(
      fmt::format("`{}` has the unreadable value `{}{}`", key, value.substr(0, kShown), cut ? "..." : ""));
}

std::string_view AttributeBuilder::Quoted(std::string_view text) {
  if (IsPlainString(text)) return text;
  const std::string plain = text.size() >= 2 && text.front() == '"' ? Unescaped(text) : std::string();
  const std::string_view source = plain.empty() ? text : plain;
  std::string& out = scratch_;
  out.assign(1, '"');
  size_t run = 0;
  for (size_t i = 0; i < source.size(); ++i) {
    const char c = source[i];
    if (c != '"' && c != '\\' && c != '\n') continue;
    out.append(source, run, i - run);
    out += '\\';
    out += c == '\n' ? 'n' : c;
    run = i + 1;
  }
  out.append(source, run);
  out += '"';
  return arena_.Copy(out);
}

// Configurations repeat: equal ones are quoted once.
std::string_view AttributeBuilder::QuotedOnce(std::string_view text) {
  constexpr size_t kLongest = 4096;
  if (text.size() > kLongest || text.starts_with('"')) return Quoted(text);
  const auto [found, is_new] = quoted_.try_emplace(text);
  if (is_new) found->second = Quoted(text);
  return found->second;
}

std::string AttributeBuilder::Convert(const AttributeRow& row, std::string_view value) {
  const auto integers = Integers(value);
  switch (row.form) {
    case Form::kIntegerList:
      return integers ? ArrayText(*integers) : "";
    case Form::kFirstInteger:
      return integers && !integers->empty() ? fmt::format("{} : i64", integers->front()) : "";
    case Form::kInteger:
      return IsWord(value) ? fmt::format("{} : i64", value) : "";
    case Form::kInteger32:
      return IsWord(value) ? fmt::format("{} : i32", value) : "";
    case Form::kFloat32:
      return fmt::format("{} : f32", value);
    case Form::kBoolean:
      return value == "true" || value == "false" ? std::string(value) : "";
    case Form::kStableEnum:
      return IsWord(value) ? EnumText("stablehlo", row.detail, value) : "";
    case Form::kMhloEnum:
      return IsWord(value) ? EnumText("mhlo", row.detail, value) : "";
    case Form::kRngEnum:
      return IsWord(value) ? EnumText("stablehlo", row.detail, Upper(value.substr(value.find('_') + 1))) : "";
    case Form::kChannel:
      return IsWord(value) ? fmt::format("#stablehlo.channel_handle<handle = {}, type = 0>", value) : "";
    case Form::kApiVersion:
      return ApiVersionText(value);
    case Form::kGroups:
    case Form::kPairs:
      return GroupsText(value);
    case Form::kPrecision: {
      std::string out;
      Scanner scan(value);
      while (!scan.at_end()) {
        scan.Seek(scan.position() + 1);
        const std::string_view word = scan.Name();
        if (!word.empty()) out += fmt::format("{}#stablehlo<precision {}>", out.empty() ? "" : ", ", Upper(word));
      }
      return "[" + out + "]";
    }
    default:
      return {};
  }
}

std::string_view AttributeBuilder::Cached(const AttributeRow& row, std::string_view value) {
  auto& texts = cache_[&row];
  const auto found = texts.find(value);
  if (found != texts.end()) return found->second;
  const std::string text = Convert(row, value);
  if (text.empty()) Problem(row.key, value);
  const std::string_view kept = arena_.Copy(text);
  texts.emplace(value, kept);
  return kept;
}

void AttributeBuilder::AddRow(const AttributeRow& row, std::string_view value) {
  switch (row.form) {
    case Form::kPart:
      return;
    case Form::kUnit:
      if (value == "true") Add(row.name, "");
      return;
    case Form::kAsWritten:
      return Add(row.name, value);
    case Form::kText:
      return Add(row.name, QuotedOnce(value));
    case Form::kBackendConfig:
      return AddBackendConfig(value);
    default:
      return Add(row.name, Cached(row, value));
  }
}

void AttributeBuilder::AddBackendConfig(std::string_view value) {
  Add("backend_config", QuotedOnce(value));
  const std::string_view trips = JsonScalar(value, "known_trip_count");
  // {"known_trip_count":{"n":"5"}}
  if (!trips.empty()) {
    const std::string_view count = JsonScalar(value.substr(value.find("known_trip_count")), "\"n\"");
    const bool number = !count.empty() && std::all_of(count.begin(), count.end(), IsDigit);
    if (number) AddCopy("known_trip_count", fmt::format("{} : i64", count));
  }
  if (JsonScalar(value, "\"is_sync\"") == "true") Add("is_sync", "");
}

std::vector<ir::Attribute>& AttributeBuilder::Build(std::string_view opcode, const InstructionSyntax& instruction,
                                                    std::span<const AttributeSyntax> attributes) {
  out_.clear();
  // The typed interface takes an MLIR dictionary, which may stand as it is.
  const bool is_typed = opcode == "custom-call" && ValueOf(attributes, "api_version") == "API_VERSION_TYPED_FFI";
  for (const AttributeSyntax& a : attributes) {
    if (is_typed && a.key == "backend_config" && a.value.starts_with('{')) {
      Add(a.key, a.value);
      continue;
    }
    if (const AttributeRow* row = FindAttributeRow(opcode, a.key)) {
      AddRow(*row, a.value);
      continue;
    }
    auto& name = names_[a.key];
    if (!name.valid()) {
      std::string spelling(a.key);
      std::replace(spelling.begin(), spelling.end(), '-', '_');
      name = module_.InternName(spelling);
    }
    out_.push_back({name, Quoted(a.value)});
  }
  if (opcode == "broadcast" && ValueOf(attributes, "dimensions").empty()) Add("broadcast_dimensions", "array<i64>");
  if (opcode == "dot") AddContraction(attributes);
  if (opcode == "convolution") AddConvolution(attributes, false);
  if (opcode == "custom-call") AddConvolution(attributes, true);
  if (opcode == "reduce-window" || opcode == "select-and-scatter") AddWindow(attributes);
  if (opcode == "gather") AddGather(attributes);
  if (opcode == "scatter") AddScatter(attributes);
  if (opcode == "slice") AddSlice(ValueOf(attributes, "slice"));
  if (opcode == "pad") AddPadding(ValueOf(attributes, "padding"));
  AddCollective(opcode, instruction, attributes);
  return out_;
}

}  // namespace hespas::read::hlo
