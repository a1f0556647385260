#include "estimate/calls/call_text.h"

#include <cmath>
#include <cstdlib>

#include "ir/attributes/attribute.h"

namespace hespas::estimate {
namespace {

// The place of the value behind a key that stands for itself: not within a longer word.
size_t ValueAt(std::string_view text, std::string_view key) {
  for (size_t at = text.find(key); at != std::string_view::npos; at = text.find(key, at + 1)) {
    const size_t end = at + key.size();
    const bool begins = at == 0 || std::string_view("\"{, \n").find(text[at - 1]) != std::string_view::npos;
    if (!begins || end >= text.size() || std::string_view("\": =").find(text[end]) == std::string_view::npos) continue;
    return text.find_first_not_of("\" :=\n\t", end);
  }
  return std::string_view::npos;
}

}  // namespace

std::string CallConfiguration(const ir::Module& module, ir::OpId op) {
  std::string config;
  for (const std::string_view name : {"backend_config", "mhlo.backend_config"}) {
    const std::string_view* text = module.attribute(op, name);
    if (text != nullptr) config += ir::AsString(*text).value_or(std::string(*text));
  }
  return config;
}

std::optional<double> NumberIn(std::string_view text, std::string_view key) {
  const size_t at = ValueAt(text, key);
  if (at == std::string_view::npos) return std::nullopt;
  const std::string digits(text.substr(at, text.find_first_not_of("+-.0123456789eE", at) - at));
  char* end = nullptr;
  const double value = std::strtod(digits.c_str(), &end);
  if (end == digits.c_str() || !std::isfinite(value)) return std::nullopt;
  return value;
}

std::string WordIn(std::string_view text, std::string_view key) {
  const size_t at = ValueAt(text, key);
  if (at == std::string_view::npos) return {};
  return std::string(text.substr(at, text.find_first_of("\",} \n", at) - at));
}

std::string KernelName(const ir::Module& module, ir::OpId op) {
  if (const std::string_view* text = module.attribute(op, "kernel_name")) {
    return ir::AsString(*text).value_or(std::string(*text));
  }
  // HLO has no attribute for it; `hespas export` keeps it among those of the frontend.
  if (const std::string_view* text = module.attribute(op, "mhlo.frontend_attributes")) {
    if (std::string name = WordIn(*text, "kernel_name"); !name.empty()) return name;
  }
  return WordIn(CallConfiguration(module, op), "name");
}

}  // namespace hespas::estimate
