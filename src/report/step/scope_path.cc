#include "report/step/scope_path.h"

#include <algorithm>
#include <array>
#include <vector>

namespace hespas::report {
namespace {

// Parts that JAX adds for its own transformations and control flow.
constexpr std::array<std::string_view, 21> kWrappers = {"while",
                                                        "body",
                                                        "cond",
                                                        "branch",
                                                        "closed_call",
                                                        "core_call",
                                                        "checkpoint",
                                                        "remat",
                                                        "remat2",
                                                        "remat_call",
                                                        "shmap_body",
                                                        "rematted_computation",
                                                        "pjit",
                                                        "jit",
                                                        "custom_jvp_call",
                                                        "custom_vjp_call",
                                                        "custom_vjp_call_jaxpr",
                                                        "custom_lin",
                                                        "jvp",
                                                        "vmap",
                                                        "named_call"};

bool AreDigits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

// Where the number begins that a part ends in ("layers_3", "h.7", "Conv12", "3"); its end where it ends in none.
size_t NumberIn(std::string_view part) {
  const size_t at = part.find_last_not_of("0123456789") + 1;
  if (at == part.size() || at == 0) return at == part.size() ? at : 0;
  const char before = part[at - 1];
  const bool separated = before == '_' || before == '.' || before == '[' || (before >= 'a' && before <= 'z');
  return separated ? at : part.size();
}

// `transpose(jvp(decoder))` -> `decoder`.
std::string_view Unwrapped(std::string_view part) {
  const size_t open = part.rfind('(');
  if (open == std::string_view::npos || !part.ends_with(')')) return part;
  part.remove_prefix(open + 1);
  return part.substr(0, part.find(')'));
}

// Without the parameters that older JAX writes behind an operation: `dot_general[dimension_numbers=...]`.
std::string_view WithoutParameters(std::string_view name) {
  const size_t open = name.find('[');
  const bool parameters =
      open != std::string_view::npos && name.ends_with(']') && name.substr(open).find('=') != std::string_view::npos;
  return parameters ? name.substr(0, open) : name;
}

// The next slash outside of parentheses: `jvp(layers/3)/mlp` has two parts.
size_t PartEnd(std::string_view name, size_t begin) {
  int depth = 0;
  for (size_t at = begin; at < name.size(); ++at) {
    depth += name[at] == '(' ? 1 : name[at] == ')' ? -1 : 0;
    if (name[at] == '/' && depth <= 0) return at;
  }
  return std::string_view::npos;
}

struct Scopes {
  std::vector<std::string_view> parts;
  bool backward = false;
  bool recomputed = false;
};

// The scopes that one part holds. JAX wraps the whole path in each transformation:
// "transpose(jvp(layers/3))/jvp(layers/3)" is layers/3 but once.
void AddParts(std::string_view part, std::vector<std::string_view>& parts) {
  std::vector<std::string_view> held;
  for (size_t begin = 0; begin <= part.size();) {
    const size_t end = std::min(part.find('/', begin), part.size());
    const std::string_view scope = part.substr(begin, end - begin);
    const bool wrapper = std::find(kWrappers.begin(), kWrappers.end(), scope) != kWrappers.end();
    if (!scope.empty() && !wrapper) held.push_back(scope);
    begin = end + 1;
  }
  if (held.size() > 1 && parts == held) return;
  parts.insert(parts.end(), held.begin(), held.end());
}

Scopes ScopesOf(std::string_view name) {
  Scopes out;
  name = WithoutParameters(name);
  size_t begin = 0;
  for (size_t slash; (slash = PartEnd(name, begin)) != std::string_view::npos; begin = slash + 1) {
    const std::string_view whole = name.substr(begin, slash - begin);
    out.backward |= whole.starts_with("transpose(");
    out.recomputed |= whole == "rematted_computation";
    if (whole.starts_with("jit(") || whole.starts_with("pjit(")) continue;
    AddParts(Unwrapped(whole), out.parts);
  }
  return out;
}

}  // namespace

std::string ScopePath(std::string_view framework_name) {
  const Scopes scopes = ScopesOf(framework_name);
  std::string out;
  for (const std::string_view part : scopes.parts) out.append(out.empty() ? "" : "/").append(part);
  if (out.empty()) return out;
  if (scopes.recomputed) return out + " (recomputed)";
  return scopes.backward ? out + " (backward)" : out;
}

std::string LayerOf(std::string_view framework_name) {
  const Scopes scopes = ScopesOf(framework_name);
  for (size_t i = 0; i < scopes.parts.size(); ++i) {
    const std::string_view part = scopes.parts[i];
    if (AreDigits(part) && i > 0) return std::string(scopes.parts[i - 1]) + "/" + std::string(part);
    if (NumberIn(part) > 0 && NumberIn(part) < part.size()) return std::string(part);
  }
  return scopes.parts.empty() ? std::string() : std::string(scopes.parts.front());
}

std::string AllLayers(std::string_view scope_path) {
  size_t begin = 0;
  while (begin < scope_path.size()) {
    const size_t end = std::min(scope_path.find_first_of("/ ", begin), scope_path.size());
    const std::string_view part = scope_path.substr(begin, end - begin);
    const size_t number = NumberIn(part);
    if (number < part.size()) {
      return std::string(scope_path.substr(0, begin + number)) + "*" + std::string(scope_path.substr(end));
    }
    begin = end + 1;
  }
  return std::string(scope_path);
}

}  // namespace hespas::report
