#include "ir/attributes/canonical.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <vector>

#include "ir/attributes/attribute.h"
#include "ir/attributes/dense_text.h"
#include "ir/attributes/float_text.h"

namespace hespas::ir {
namespace {

bool IsIdentifierStart(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool IsIdentifierChar(char c) { return IsIdentifierStart(c) || (c >= '0' && c <= '9') || c == '$' || c == '.'; }

bool IsIdentifier(std::string_view text) {
  return !text.empty() && IsIdentifierStart(text[0]) && std::all_of(text.begin(), text.end(), IsIdentifierChar);
}

// The word at the start of `text`.
std::string_view FirstWord(std::string_view text) {
  size_t n = 0;
  while (n < text.size() && IsIdentifierChar(text[n])) ++n;
  return text.substr(0, n);
}

bool IsAlias(std::string_view text) {
  return text.size() > 1 &&
         std::all_of(text.begin() + 1, text.end(), [](char c) { return IsIdentifierChar(c) && c != '.'; });
}

// Struct-like attributes with the order MLIR prints their keys in. A `!` marks keys that are printed even when empty.
struct StructRow {
  std::string_view name;
  std::string_view keys;
};

constexpr StructRow kStructs[] = {
    {"stablehlo.dot",
     "lhs_batching_dimensions rhs_batching_dimensions lhs_contracting_dimensions rhs_contracting_dimensions"},
    {"stablehlo.gather",
     "offset_dims collapsed_slice_dims operand_batching_dims start_indices_batching_dims start_index_map "
     "index_vector_dim"},
    {"stablehlo.scatter",
     "update_window_dims inserted_window_dims input_batching_dims scatter_indices_batching_dims "
     "scatter_dims_to_operand_dims index_vector_dim"},
    {"stablehlo.channel_handle", "!handle !type"},
    {"stablehlo.output_operand_alias", "!output_tuple_indices !operand_index !operand_tuple_indices"},
    {"stablehlo.dot_algorithm",
     "!lhs_precision_type !rhs_precision_type !accumulation_type !lhs_component_count !rhs_component_count "
     "!num_primitive_operations !allow_imprecise_accumulation"},
    {"chlo.ragged_dot",
     "lhs_batching_dimensions rhs_batching_dimensions lhs_contracting_dimensions rhs_contracting_dimensions "
     "lhs_ragged_dimensions rhs_group_dimensions"},
};

// mhlo's attributes print as stablehlo's do.
std::string DialectFree(std::string_view name) {
  return name.starts_with("mhlo.") ? "stablehlo." + std::string(name.substr(5)) : std::string(name);
}

// `text` without comments, with every run of white space outside strings as one space.
std::string Collapse(std::string_view text) {
  std::string out;
  bool space = false;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      out += c;
      if (c == '\\' && i + 1 < text.size()) out += text[++i];
      quoted = c != '"';
      continue;
    }
    if (c == '/' && i + 1 < text.size() && text[i + 1] == '/') {
      i = std::min(text.find('\n', i), text.size()) - 1;
      continue;
    }
    if (c == ' ' || c == '\n' || c == '\t' || c == '\r') {
      space = true;
      continue;
    }
    if (space && !out.empty()) out += ' ';
    space = false;
    out += c;
    quoted = c == '"';
  }
  return out;
}

// The same without spaces inside brackets, as stablehlo's attributes print.
std::string CollapseTight(std::string_view text) {
  std::string out;
  const std::string collapsed = Collapse(text);
  bool quoted = false;
  for (size_t i = 0; i < collapsed.size(); ++i) {
    const char c = collapsed[i];
    if (c == '"') quoted = !quoted;
    const char next = i + 1 < collapsed.size() ? collapsed[i + 1] : '\0';
    const bool beside = (!out.empty() && (out.back() == '<' || out.back() == '[')) || next == '>' || next == ']';
    if (!quoted && c == ' ' && beside) continue;
    out += c;
  }
  return out;
}

bool IsEmptyValue(std::string_view value) { return value.empty() || value == "[]" || value == "0"; }

std::string NormalList(std::string_view text) {
  if (!text.starts_with('[')) return std::string(text);
  std::string out = "[";
  for (const std::string_view item : ListItems(text)) {
    if (out.size() > 1) out += ", ";
    out += item.starts_with('[') ? NormalList(item) : std::string(item);
  }
  return out + "]";
}

// `raw input_batch_dimension = 0, ...` as `[b, 0, f]x[0, i, o]->[b, 0, f]`; empty where a part is missing.
std::string ConvolutionFromRaw(std::string_view body) {
  body = Trim(body.substr(1, body.size() - 2));
  if (!body.starts_with("raw")) return {};
  const std::string plain = fmt::format("<{}>", body.substr(3));  // the entries are views into it
  const std::vector<Entry> entries = Entries(plain);
  const auto group = [&](std::string_view first, char first_letter, std::string_view second, char second_letter,
                         std::string_view spatial) -> std::string {
    std::vector<std::string> cells;
    const auto put = [&](int64_t at, std::string cell) {
      if (at < 0 || at > 64) return;
      if (cells.size() <= static_cast<size_t>(at)) cells.resize(static_cast<size_t>(at) + 1);
      cells[static_cast<size_t>(at)] = std::move(cell);
    };
    for (const auto& [key, letter] : {std::pair(first, first_letter), std::pair(second, second_letter)}) {
      const auto value = FindEntry(entries, key);
      put(value ? AsInteger(*value).value_or(0) : 0, std::string(1, letter));
    }
    int64_t index = 0;
    if (const auto value = FindEntry(entries, spatial)) {
      for (const int64_t at : AsIntegers(*value).value_or(std::vector<int64_t>{})) put(at, std::to_string(index++));
    }
    std::string out = "[";
    for (const std::string& cell : cells) out += (out.size() > 1 ? ", " : "") + cell;
    return out + "]";
  };
  return group("input_batch_dimension", 'b', "input_feature_dimension", 'f', "input_spatial_dimensions") + "x" +
         group("kernel_input_feature_dimension", 'i', "kernel_output_feature_dimension", 'o',
               "kernel_spatial_dimensions") +
         "->" + group("output_batch_dimension", 'b', "output_feature_dimension", 'f', "output_spatial_dimensions");
}

// `[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]` with MLIR's spacing.
std::string ConvolutionBody(std::string_view body) {
  const std::string raw = ConvolutionFromRaw(body);
  if (!raw.empty()) return raw;
  std::string out;
  for (const char c : body.substr(1, body.size() - 2)) {
    if (c == ' ' || c == '\n' || c == '\t' || c == '\r') continue;
    out += c;
    if (c == ',') out += ' ';
  }
  return out;
}

}  // namespace

std::string EscapeString(std::string_view characters) {
  std::string out = "\"";
  for (const char c : characters) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\\') {
      out += "\\\\";
    } else if (byte >= 0x20 && byte < 0x7F && c != '"') {
      out += c;
    } else {
      out += fmt::format("\\{:02X}", byte);
    }
  }
  return out + "\"";
}

std::string UnescapeString(std::string_view quoted) { return AsString(quoted).value_or(std::string()); }

std::string Canonical::Named(std::string_view name, const std::string& value) {
  const std::string key = IsIdentifier(name) ? std::string(name) : EscapeString(name);
  return value.empty() || value == "unit" ? key : fmt::format("{} = {}", key, value);
}

std::string Canonical::Attribute(std::string_view text, PlainMeaning meaning) {
  text = Trim(text);
  if (text.find("//") != std::string_view::npos) {
    const std::string collapsed = Collapse(text);
    if (collapsed.size() < text.size()) return Attribute(collapsed, meaning);
  }
  if (meaning == PlainMeaning::kI64Array && text.starts_with('[')) {
    const std::string list = NormalList(text);
    return list == "[]" ? "array<i64>"
                        : fmt::format("array<i64: {}>", std::string_view(list).substr(1, list.size() - 2));
  }
  const bool plain = !text.empty() && text.find_first_not_of("-0123456789") == std::string_view::npos;
  if (plain && meaning == PlainMeaning::kI32) return fmt::format("{} : i32", text);
  std::string out;
  Append(out, text, AttributeContext::kNamed);
  return out;
}

std::string Canonical::Dictionary(std::string_view text) {
  std::string out;
  AppendDictionary(out, Trim(text));
  return out;
}

void Canonical::Append(std::string& out, std::string_view text, AttributeContext context) {
  text = Trim(text);
  if (text.empty()) {
    out += "unit";
    return;
  }
  if (depth_ >= kMaxDepth) {
    out += text;
    return;
  }
  ++depth_;
  const char c = text[0];
  const std::string_view word = FirstWord(text);
  if (c == '[') {
    AppendArray(out, text);
  } else if (c == '{') {
    AppendDictionary(out, text);
  } else if (c == '#') {
    AppendDialect(out, text);
  } else if (c == '!' || c == '(') {
    out += Type(text);
  } else if (word == "dense") {
    AppendDense(out, text);
  } else if (word == "array") {
    AppendDenseArray(out, text);
  } else if (word == "dense_resource") {
    const size_t end = text.find('>');
    out += text.substr(0, end);
    const std::string_view rest = Trim(text.substr(std::min(end + 1, text.size())));
    out += "> : " + Type(Trim(rest.substr(std::min<size_t>(1, rest.size()))));
  } else {
    AppendScalar(out, text, context);
  }
  --depth_;
}

void Canonical::AppendScalar(std::string& out, std::string_view text, AttributeContext context) {
  if (text[0] == '"') {
    // A string may carry a type behind it.
    size_t end = 1;
    while (end < text.size() && text[end] != '"') end += text[end] == '\\' ? 2 : 1;
    out += EscapeString(UnescapeString(text.substr(0, end + 1)));
    const std::string_view rest = Trim(text.substr(std::min(end + 1, text.size())));
    if (rest.starts_with(':')) out += " : " + Type(Trim(rest.substr(1)));
    return;
  }
  if (text[0] == '@') {
    if (text.size() > 2 && text[1] == '"' && text.find("::") == std::string_view::npos) {
      const std::string name = UnescapeString(text.substr(1));
      out += IsIdentifier(name) ? "@" + name : "@" + EscapeString(name);
    } else {
      out += text;
    }
    return;
  }
  if (text[0] != '-' && (text[0] < '0' || text[0] > '9')) {
    const std::string_view word = FirstWord(text);
    if (word == "true" || word == "false" || word == "unit") {
      out += word;
    } else {
      out += Type(text);
    }
    return;
  }
  const size_t colon = text.find(':');
  const std::string_view value = Trim(text.substr(0, colon));
  const bool fractional = value.find('.') != std::string_view::npos;
  const std::string type =
      colon == std::string_view::npos ? (fractional ? "f64" : "i64") : Type(Trim(text.substr(colon + 1)));
  const auto element = ElementFromText(type);
  std::string printed;
  if (!element || !AppendElement(printed, *element, value)) printed = value;
  out += printed;
  const bool boolean = printed == "true" || printed == "false";
  const bool elided = context == AttributeContext::kInArray && (type == "i64" || type == "f64");
  if (!boolean && !elided) out += " : " + type;
}

void Canonical::AppendArray(std::string& out, std::string_view text) {
  out += '[';
  bool first = true;
  for (const std::string_view item : ListItems(text)) {
    if (!first) out += ", ";
    first = false;
    Append(out, item, AttributeContext::kInArray);
  }
  out += ']';
}

void Canonical::AppendDictionary(std::string& out, std::string_view text) {
  std::vector<Entry> entries = Entries(text);
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.name < b.name; });
  out += '{';
  bool first = true;
  for (const Entry& entry : entries) {
    if (!first) out += ", ";
    first = false;
    std::string value;
    if (!entry.value.empty()) Append(value, entry.value, AttributeContext::kNamed);
    out += Named(entry.name, value);
  }
  out += '}';
}

void Canonical::AppendDense(std::string& out, std::string_view text) {
  const auto info = AsDense(text);
  if (!info) {
    out += text;
    return;
  }
  const std::string type = Type(info->type);
  out += "dense<";
  const auto shape = AsShape(type);
  const auto element = shape ? ElementFromText(shape->element) : std::nullopt;
  if (!element || !AppendDenseData(out, *info, *element, shape->dims)) {
    const std::string_view payload = info->payload;
    out += info->form == DenseForm::kHex ? fmt::format("\"0x{}\"", payload) : std::string(payload);
  }
  out += "> : " + type;
}

void Canonical::AppendDenseArray(std::string& out, std::string_view text) {
  const auto info = AsDense(text);
  if (!info) {
    out += text;
    return;
  }
  out += "array<";
  out += info->type;
  const auto element = ElementFromText(info->type);
  const char* separator = ": ";
  for (const std::string_view item : ListItems(info->payload)) {
    out += separator;
    separator = ", ";
    if (!element || !AppendElement(out, *element, item)) out += item;
  }
  out += '>';
}

void Canonical::AppendStruct(std::string& out, std::string_view head, std::string_view body, std::string_view keys) {
  const std::vector<Entry> entries = Entries(body);
  out += head;
  out += '<';
  bool first = true;
  while (!keys.empty()) {
    const size_t space = std::min(keys.find(' '), keys.size());
    std::string_view key = keys.substr(0, space);
    keys.remove_prefix(std::min(space + 1, keys.size()));
    const bool always = key[0] == '!';
    if (always) key.remove_prefix(1);
    const auto value = FindEntry(entries, key);
    const std::string printed = value ? NormalList(*value) : std::string();
    if (printed.empty() || (!always && IsEmptyValue(printed))) continue;
    if (!first) out += ", ";
    first = false;
    out += fmt::format("{} = {}", key, printed);
  }
  out += '>';
}

std::string_view Canonical::Target(std::string_view alias) {
  if (expansions_left_ == 0) return {};
  --expansions_left_;
  return module_.Alias(alias);
}

// Tolerances of zero are omitted.
void Canonical::AppendResultAccuracy(std::string& out, std::string_view head, std::string_view body) {
  const std::vector<Entry> entries = Entries(body);
  out += head;
  out += '<';
  for (const std::string_view key : {"atol", "rtol"}) {
    std::string value;
    const auto given = FindEntry(entries, key);
    if (given) AppendElement(value, {.kind = ElementKind::kF64, .bits = 64}, *given);
    if (given && value != "0.000000e+00") out += fmt::format("{} = {}, ", key, value);
  }
  const auto ulps = FindEntry(entries, "ulps");
  if (ulps && *ulps != "0") out += fmt::format("ulps = {}, ", *ulps);
  const auto mode = FindEntry(entries, "mode");
  out += "mode = ";
  out += mode ? std::string(*mode) : fmt::format("{}_mode<DEFAULT>", head);
  out += '>';
}

void Canonical::AppendDialect(std::string& out, std::string_view text) {
  if (IsAlias(text)) {
    const std::string_view target = Target(text);
    if (target.empty() || target == text) {
      out += text;
    } else {
      Append(out, target, AttributeContext::kNamed);
    }
    return;
  }
  const size_t open = text.find('<');
  const std::string_view name = text.substr(1, open - 1);
  if (open == std::string_view::npos || text.size() < open + 2) {
    out += text;
    return;
  }
  const std::string_view body = text.substr(open);
  const std::string key = DialectFree(name);
  for (const StructRow& row : kStructs) {
    if (row.name == key) return AppendStruct(out, text.substr(0, open), body, row.keys);
  }
  if (key == "stablehlo.conv") {
    out += fmt::format("{}<{}>", text.substr(0, open), ConvolutionBody(body));
  } else if (key == "stablehlo.type_extensions") {
    const std::vector<Entry> entries = Entries(body);
    const auto bounds = FindEntry(entries, "bounds");
    const std::string list = bounds ? NormalList(*bounds) : "[]";
    out += fmt::format("#{}bounds<{}>", text.substr(1, name.find('.') + 1),
                       std::string_view(list).substr(1, list.size() - 2));
  } else if (key == "stablehlo.result_accuracy") {
    AppendResultAccuracy(out, text.substr(0, open), body);
  } else {
    out += key.starts_with("stablehlo.") ? CollapseTight(text) : Collapse(text);
  }
}

namespace {

// `i8<-128:127>` and the like: limits that go without saying.
constexpr std::pair<std::string_view, std::string_view> kQuantisedSpellings[] = {
    {"<ui", "<u"},       {"i4<-8:7>", "i4"},           {"u4<0:15>", "u4"},      {"i8<-128:127>", "i8"},
    {"u8<0:255>", "u8"}, {"i16<-32768:32767>", "i16"}, {"u16<0:65535>", "u16"}, {"i32<-2147483648:2147483647>", "i32"}};

std::string QuantisedSpelling(std::string text) {
  for (const auto& [from, to] : kQuantisedSpellings) {
    for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
      text.replace(at, from.size(), to);
    }
  }
  return text;
}

// The number at `at` of a quantised type: scales as MLIR prints an f64, zero points of 0 omitted.
size_t AppendQuantisedNumber(std::string& out, std::string_view text, size_t at) {
  size_t end = at;
  const auto in_number = [&](char c, char before) {
    return (c >= '0' && c <= '9') || c == '.' || c == 'e' || c == 'E' ||
           ((c == '+' || c == '-') && (before == 'e' || before == 'E'));
  };
  while (end < text.size() && in_number(text[end], end > at ? text[end - 1] : '\0')) ++end;
  const std::string_view number = text.substr(at, end - at);
  const bool scale = number.find('.') != std::string_view::npos;
  if (!scale || !AppendElement(out, {.kind = ElementKind::kF64, .bits = 64}, number)) out += number;
  const char behind = end + 2 < text.size() ? text[end + 2] : '\0';
  if (scale && text.substr(end, 2) == ":0" && (behind < '0' || behind > '9')) end += 2;
  return end;
}

}  // namespace

std::string Canonical::Type(std::string_view text) {
  text = Trim(text);
  std::string out;
  bool in_braces = false;
  for (size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (c == '!' || c == '#') {
      size_t n = 1;
      while (i + n < text.size() && IsIdentifierChar(text[i + n])) ++n;
      const std::string_view head = text.substr(i, n);
      const std::string_view target = IsAlias(head) ? Target(head) : std::string_view();
      out += target.empty() ? head : target;
      i += n;
    } else if (c == '"') {
      const size_t end = std::min(text.find('"', i + 1), text.size() - 1);
      out += text.substr(i, end + 1 - i);
      i = end + 1;
    } else if (c == ' ' || c == '\n' || c == '\t' || c == '\r') {
      ++i;
    } else if (c == '-' && i + 1 < text.size() && text[i + 1] == '>') {
      out += " -> ";
      i += 2;
    } else if (c >= '0' && c <= '9' && (out.empty() || !IsIdentifierChar(out.back()))) {
      i = AppendQuantisedNumber(out, text, i);
    } else {
      if (c == '{' || c == '}') in_braces = c == '{';
      out += c;
      if (c == ',' && !in_braces) out += ' ';
      ++i;
    }
  }
  return out.find("!quant.") == std::string::npos ? out : QuantisedSpelling(std::move(out));
}

}  // namespace hespas::ir
