// JSON from text and to text. The library's parser and writer are templates: they are compiled here, and not where they
// are used.
//
// - What is written is valid UTF-8: other bytes are replaced.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace hespas {

// Discarded (`is_discarded()`) where the text is no JSON.
nlohmann::json ReadJson(std::string_view text);
nlohmann::ordered_json ReadOrderedJson(std::string_view text);

// Throws nlohmann::json::parse_error where the text is no JSON. Comments may be allowed, as in JavaScript.
nlohmann::json ReadJsonOrThrow(std::string_view text, bool comments = false);

// On one line, or indented where `indent` is not negative.
std::string JsonText(const nlohmann::json& json, int indent = -1);
std::string JsonText(const nlohmann::ordered_json& json, int indent = -1);
// The same in ASCII alone.
std::string AsciiJsonText(const nlohmann::json& json);
std::string AsciiJsonText(const nlohmann::ordered_json& json);

}  // namespace hespas
