#include "ir/facts/framework_name.h"

#include <vector>

#include "ir/attributes/attribute.h"
#include "ir/attributes/attribute_scan.h"
#include "ir/attributes/canonical.h"

namespace hespas::ir {
namespace {

constexpr int kMostLocations = 64;  // looked at for one name: locations of locations can multiply without end
constexpr int kMostAliases = 16;

// A path of scopes, not the bare name of an operation or of a Python function.
bool IsPath(std::string_view name) { return name.find_first_of("/(") != std::string_view::npos; }

// The text behind aliases and `loc(...)`.
std::string_view Resolved(const Module& module, std::string_view text) {
  text = Trim(text);
  for (int depth = 0; depth < kMostAliases; ++depth) {
    if (text.starts_with('#')) {
      text = Trim(module.Alias(text));
    } else if (text.starts_with("loc(") && text.ends_with(')')) {
      text = Trim(text.substr(4, text.size() - 5));
    } else {
      break;
    }
  }
  return text;
}

std::string NameAt(const Module& module, std::string_view text, int& left);

// `"dot_general"("jit(f)/mlp"(...))` is jit(f)/mlp/dot_general; `"jit:"("jit(f)/mlp/jit"(...))` repeats its inner name.
std::string NamedLocation(const Module& module, std::string_view text, int& left) {
  const size_t end = scan::SkipString(text, 0);
  if (end < text.size() && text[end] == ':') return {};  // a line of a file
  std::string name = UnescapeString(text.substr(0, end));
  const bool type = name.ends_with(':');  // "dot_general:"
  if (type) name.pop_back();
  if (IsPath(name) || end >= text.size() || text[end] != '(' || !text.ends_with(')')) return name;
  const std::string_view inner = Resolved(module, text.substr(end + 1, text.size() - end - 2));
  if (!inner.starts_with('"')) return name;
  const std::string outer = NameAt(module, inner, left);
  if (!IsPath(outer)) return name;  // a Python function of the traceback
  return type || name.empty() ? outer : outer + "/" + name;
}

// The first of a `fused[...]` that says a name.
std::string FusedLocation(const Module& module, std::string_view text, int& left) {
  const size_t open = text.find('[');
  if (open == std::string_view::npos) return {};
  for (const std::string_view item : ListItems(text.substr(open))) {
    std::string name = NameAt(module, item, left);
    if (!name.empty()) return name;
  }
  return {};
}

// `callsite(CALLEE at CALLER)`: MLIR's inliner wraps names so, JAX a traceback of Python functions, which is none.
std::string CallSite(const Module& module, std::string_view text, int& left) {
  if (!text.ends_with(')')) return {};
  std::string_view rest = text.substr(0, text.size() - 1);
  rest.remove_prefix(rest.find('(') + 1);
  size_t at = 0;
  for (int nested = 0; at < rest.size(); ++at) {
    if (rest[at] == '"') at = scan::SkipString(rest, at);
    if (at >= rest.size()) return {};
    nested += rest[at] == '(' ? 1 : rest[at] == ')' ? -1 : 0;
    if (nested == 0 && rest.substr(at).starts_with(" at ")) break;
  }
  if (at >= rest.size()) return {};
  const std::string callee = NameAt(module, rest.substr(0, at), left);
  const std::string caller = NameAt(module, rest.substr(at + 4), left);
  if (!IsPath(caller)) return IsPath(callee) ? callee : std::string();
  return NameInCaller(caller, callee);
}

std::string NameAt(const Module& module, std::string_view text, int& left) {
  if (--left < 0) return {};
  text = Resolved(module, text);
  if (text.starts_with('"')) return NamedLocation(module, text, left);
  if (text.starts_with("fused")) return FusedLocation(module, text, left);
  if (text.starts_with("callsite(")) return CallSite(module, text, left);
  return {};
}

std::string NameInMetadata(std::string_view metadata) {
  constexpr std::string_view kKey = "op_name=";
  const size_t at = metadata.find(kKey);
  if (at == std::string_view::npos) return {};
  std::string_view rest = metadata.substr(at + kKey.size());
  // As HLO text writes it, or within a string of MLIR, where quotes are escaped.
  const std::string_view quote = rest.starts_with('\\') ? "\\\"" : "\"";
  if (!rest.starts_with(quote)) return {};
  rest.remove_prefix(quote.size());
  return std::string(rest.substr(0, rest.find(quote)));
}

}  // namespace

bool HoldsName(std::string_view attribute) { return attribute == "loc" || attribute == "metadata"; }

bool HasNames(const Module& module) {
  if (!module.KnowsName("loc") && !module.KnowsName("metadata")) return false;
  std::vector<char> seen;  // attribute names that hold no name of an op
  for (size_t i = 0; i < module.op_count(); ++i) {
    for (const Attribute& attribute : module.attributes(OpId(i))) {
      const size_t name = attribute.name.index();
      if (name < seen.size() && seen[name]) continue;
      if (HoldsName(module.name(attribute.name))) return true;
      if (name >= seen.size()) seen.resize(name + 1);
      seen[name] = 1;
    }
  }
  return false;
}

std::string NameIn(const Module& module, const Attribute& attribute) {
  int left = kMostLocations;
  return module.name(attribute.name) == "loc" ? NameAt(module, attribute.text, left) : NameInMetadata(attribute.text);
}

std::string OwnFrameworkName(const Module& module, OpId op) {
  for (const Attribute& attribute : module.attributes(op)) {
    if (!HoldsName(module.name(attribute.name))) continue;
    std::string name = NameIn(module, attribute);
    if (!name.empty()) return name;
  }
  return {};
}

std::string NameInCaller(std::string_view call, std::string_view inner) {
  if (call.empty()) return std::string(inner);
  if (inner.empty()) return std::string(call);
  const std::string_view root = call.substr(0, call.find('/'));
  const bool whole = IsPath(inner) && inner.substr(0, inner.find('/')) == root;
  if (!whole) return std::string(call) + "/" + std::string(inner);
  // JAX lowers a function once, with the path of its first call.
  const std::string callee = std::string(call.substr(call.rfind('/') + 1)) + "/";
  const size_t at = inner.rfind("/" + callee);
  if (at == std::string_view::npos) return std::string(inner);
  return std::string(call) + std::string(inner.substr(at + callee.size()));
}

std::string LocationText(std::string_view name) { return EscapeString(name); }

}  // namespace hespas::ir
