#include "ir/verify/signature.h"

#include <algorithm>

#include "ir/attributes/attribute.h"

namespace hespas::ir::verify {
namespace {

// Past the parenthesis that closes the one at the start.
size_t ClosingParenthesis(std::string_view text) {
  size_t depth = 0;
  bool quoted = false;
  for (size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (c == '"' && (at == 0 || text[at - 1] != '\\')) quoted = !quoted;
    if (quoted) continue;
    if (c == '(') ++depth;
    if (c == ')' && --depth == 0) return at + 1;
  }
  return std::string_view::npos;
}

std::string WithoutSpace(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c != ' ' && c != '\n' && c != '\t' && c != '\r') out += c;
  }
  return out;
}

}  // namespace

std::optional<Signature> AsSignature(std::string_view text) {
  text = Trim(text);
  if (!text.starts_with('(')) return std::nullopt;
  const size_t end = ClosingParenthesis(text);
  if (end == std::string_view::npos) return std::nullopt;
  std::string_view rest = Trim(text.substr(end));
  if (!rest.starts_with("->")) return std::nullopt;
  rest = Trim(rest.substr(2));
  Signature signature;
  for (const std::string_view item : ListItems(text.substr(0, end))) signature.inputs.push_back({item});
  const bool list = rest.starts_with('(') && ClosingParenthesis(rest) == rest.size();
  for (const std::string_view item : list ? ListItems(rest) : std::vector{rest}) signature.results.push_back({item});
  return signature;
}

Signature* SignatureTable::Of(const Module& module, OpId function) {
  const std::string_view* type = module.attribute(function, "function_type");
  if (!type) return nullptr;
  const auto [found, is_new] = known_.try_emplace(type->data());
  if (is_new) found->second = AsSignature(*type);
  return found->second ? &*found->second : nullptr;
}

namespace {

bool Spells(const Module& module, std::string_view text, TypeId type) {
  const Type& t = module.types()[type];
  const bool plain = t.is_tensor() && t.encoding.empty() && t.element.kind != ElementKind::kQuantised &&
                     t.element.kind != ElementKind::kOpaque;
  if (!plain || text.find('!') != std::string_view::npos || text.find('#') != std::string_view::npos) return true;
  const auto shape = AsShape(text);
  if (!text.starts_with("tensor<") || !shape) return text.starts_with("tensor<");
  return shape->dims == t.dims && WithoutSpace(shape->element) == ElementText(t.element);
}

}  // namespace

bool MaySpell(const Module& module, SignatureType& signature, TypeId type) {
  if (signature.known == type) return true;
  if (!Spells(module, signature.text, type)) return false;
  signature.known = type;
  return true;
}

}  // namespace hespas::ir::verify
