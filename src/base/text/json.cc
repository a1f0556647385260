#include "base/text/json.h"

#include <nlohmann/json.hpp>

namespace hespas {
namespace {

template <class Json>
std::string TextOf(const Json& json, int indent, bool ascii) {
  return json.dump(indent, ' ', ascii, Json::error_handler_t::replace);
}

}  // namespace

nlohmann::json ReadJson(std::string_view text) { return nlohmann::json::parse(text, nullptr, false); }
nlohmann::ordered_json ReadOrderedJson(std::string_view text) {
  return nlohmann::ordered_json::parse(text, nullptr, false);
}
nlohmann::json ReadJsonOrThrow(std::string_view text, bool comments) {
  return nlohmann::json::parse(text, nullptr, true, comments);
}

std::string JsonText(const nlohmann::json& json, int indent) { return TextOf(json, indent, false); }
std::string JsonText(const nlohmann::ordered_json& json, int indent) { return TextOf(json, indent, false); }
std::string AsciiJsonText(const nlohmann::json& json) { return TextOf(json, -1, true); }
std::string AsciiJsonText(const nlohmann::ordered_json& json) { return TextOf(json, -1, true); }

}  // namespace hespas
