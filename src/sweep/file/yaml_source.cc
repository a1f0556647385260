#include "sweep/file/yaml_source.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <charconv>

#include "base/text/json_text.h"
#include "sweep/file/sweep_source.h"

namespace hespas::sweep {
namespace {

constexpr int kDeepest = 64;
constexpr size_t kMostValues = 1'000'000;  // of a file, aliases written out

template <class Number>
bool ParseNumber(const std::string& text, Number& number) {
  const char* begin = text.data() + (text.starts_with('+') ? 1 : 0);
  const auto [end, error] = std::from_chars(begin, text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

// A plain scalar as YAML's core schema reads it; quoted ones are texts.
Json Scalar(const YAML::Node& node) {
  const std::string& text = node.Scalar();
  if (node.Tag() == "!") return text;
  if (text.empty() || text == "~" || text == "null") return nullptr;
  if (text == "true" || text == "True") return true;
  if (text == "false" || text == "False") return false;
  int64_t integer = 0;
  if (ParseNumber(text, integer)) return integer;
  double number = 0;
  if (ParseNumber(text, number)) return number;
  return text;
}

// `values`: how many there are so far.
Result<Json> FromYaml(const YAML::Node& node, int depth, size_t& values) {
  if (depth > kDeepest) return MakeError(kSweepSyntax, "the file nests too deeply");
  if (++values > kMostValues)
    return MakeError(kSweepSyntax, fmt::format("the file has more than {} values", kMostValues));
  switch (node.Type()) {
    case YAML::NodeType::Scalar:
      return Scalar(node);
    case YAML::NodeType::Sequence: {
      Json list = Json::array();
      for (const YAML::Node& item : node) {
        auto value = FromYaml(item, depth + 1, values);
        if (!value) return value;
        list.push_back(*std::move(value));
      }
      return list;
    }
    case YAML::NodeType::Map: {
      Json object = Json::object();
      for (const auto& member : node) {
        auto value = FromYaml(member.second, depth + 1, values);
        if (!value) return value;
        object[member.first.Scalar()] = *std::move(value);
      }
      return object;
    }
    default:
      return Json(nullptr);
  }
}

}  // namespace

Result<Json> ParseYaml(const std::string& text, const std::string& file) {
  try {
    size_t values = 0;
    return FromYaml(YAML::Load(text), 0, values);
  } catch (const YAML::Exception& error) {
    const size_t offset = error.mark.is_null() ? 0 : static_cast<size_t>(error.mark.pos);
    return MakeError(kSweepSyntax, "not valid YAML: " + error.msg, LocationAt(text, file, offset));
  }
}

Location LocateYaml(const std::string& text, const std::string& file, const std::vector<std::string>& path) {
  size_t offset = 0;
  YAML::Node node = YAML::Load(text);
  for (const std::string& step : path) {
    YAML::Node next;
    if (node.IsMap()) {
      for (const auto& member : node) {
        if (member.first.Scalar() != step) continue;
        offset = static_cast<size_t>(member.first.Mark().pos);
        next.reset(member.second);
      }
    } else if (size_t index = 0; node.IsSequence() && ParseNumber(step, index) && index < node.size()) {
      next.reset(node[index]);
      offset = static_cast<size_t>(next.Mark().pos);
    }
    if (!next.IsDefined() || next.IsNull()) break;
    node.reset(next);
  }
  return LocationAt(text, file, offset);
}

}  // namespace hespas::sweep
