#include <algorithm>

#include "ir/attributes/attribute.h"
#include "ir/verify/rules.h"
#include "ir/verify/signature.h"

namespace hespas::ir::verify {
namespace {

bool CheckBoundsOf(Check& check, TypeId id) {
  const Type& type = check.module().types()[id];
  if (!type.is_tensor() || type.encoding.empty()) return true;
  const std::vector<int64_t> bounds = Bounds(type);
  if (bounds.empty()) return true;
  if (bounds.size() != type.dims.size()) {
    return check.Fail(kTypeMismatch, "`{}` has {} bounds for a rank of {}", check.text(id), bounds.size(),
                      type.dims.size());
  }
  for (size_t i = 0; i < bounds.size(); ++i) {
    if (bounds[i] == kDynamic || type.dims[i] == kDynamic) continue;
    return check.Report(kTypeMismatch,
                        fmt::format("dimension {} of `{}` is static and cannot have a bound", i, check.text(id)),
                        "write `?` for the bound");
  }
  return true;
}

// A function by its symbol, or nothing with a report.
OpId FindFunction(Check& check, std::string_view attribute) {
  const std::string_view* text = check.Require(attribute);
  if (!text) return OpId();
  const std::string_view symbol = AsSymbol(*text);
  const OpId function = check.module().FindSymbol(symbol);
  if (function.valid() && check.module().kind(function) == OpKind::kFunc) return function;
  check.Report(kBadSymbol, fmt::format("`@{}` is no function of this module", symbol),
               "define the function or correct the name");
  return OpId();
}

// Equal types; those whose text may be spelt in several ways may be merely compatible.
bool SameType(Check& check, TypeId a, TypeId b) {
  if (a == b) return true;
  if (check.hlo()) return Compatible(check.facts(), a, b);
  const Type& type = check.module().types()[a];
  const bool plain = type.encoding.empty() && type.nested.empty() && type.element.kind != ElementKind::kQuantised &&
                     type.element.kind != ElementKind::kOpaque && type.kind != TypeKind::kOpaque;
  return !plain && Compatible(check.facts(), a, b);
}

bool FailCall(Check& check, std::string_view what, size_t i, TypeId given, std::string_view wanted) {
  return check.Fail(kBadSymbol, "{} {} is `{}`, but the function has `{}`", what, i, check.text(given), wanted);
}

bool CheckCallCounts(Check& check, size_t inputs, size_t results) {
  if (inputs != check.operand_count()) {
    return check.Fail(kBadSymbol, "{} operands are given, but the function takes {}", check.operand_count(), inputs);
  }
  if (results == check.result_count()) return true;
  return check.Fail(kBadSymbol, "{} results are named, but the function returns {}", check.result_count(), results);
}

// Against a function without a body, of which only the text of its type is known.
bool CheckCallOfText(Check& check, Signature& signature) {
  if (!CheckCallCounts(check, signature.inputs.size(), signature.results.size())) return false;
  for (size_t i = 0; i < signature.inputs.size(); ++i) {
    if (MaySpell(check.module(), signature.inputs[i], check.operand_type(i))) continue;
    return FailCall(check, "operand", i, check.operand_type(i), signature.inputs[i].text);
  }
  for (size_t i = 0; i < signature.results.size(); ++i) {
    if (MaySpell(check.module(), signature.results[i], check.result_type(i))) continue;
    return FailCall(check, "result", i, check.result_type(i), signature.results[i].text);
  }
  return true;
}

bool CheckCallOf(Check& check, OpId function) {
  const Module& module = check.module();
  const BlockId body = module.body(function);
  const auto returned = body.valid() ? check.returned_types(body) : std::nullopt;
  if (!returned) {
    Signature* signature = check.signatures().Of(module, function);
    return !signature || CheckCallOfText(check, *signature);
  }
  if (!CheckCallCounts(check, check.argument_count(body), returned->size())) return false;
  for (size_t i = 0; i < check.operand_count(); ++i) {
    const TypeId wanted = check.argument_type(body, i);
    if (!SameType(check, wanted, check.operand_type(i))) {
      return FailCall(check, "operand", i, check.operand_type(i), check.text(wanted));
    }
  }
  for (size_t i = 0; i < check.result_count(); ++i) {
    if (!SameType(check, (*returned)[i], check.result_type(i))) {
      return FailCall(check, "result", i, check.result_type(i), check.text((*returned)[i]));
    }
  }
  return true;
}

bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool IsWord(char c) { return IsLetter(c) || (c >= '0' && c <= '9') || c == '_'; }

// "my_dialect.my_op": a word that starts with a letter, then one or more words after dots, where `$` may occur too.
bool IsNamespaced(std::string_view name) {
  if (name.empty() || !IsLetter(name[0])) return false;
  size_t part = 0;
  size_t length = 0;
  for (const char c : name) {
    if (c == '.') {
      if (length == 0) return false;
      ++part;
      length = 0;
    } else if (IsWord(c) || (c == '$' && part > 0)) {
      ++length;
    } else {
      return false;
    }
  }
  return part > 0 && length > 0;
}

// A block that is empty or ends with a value was cut off; which ops of other dialects end a block is not known.
bool CheckEnds(Check& check) {
  const Module& module = check.module();
  for (const BlockId block : module.region_blocks(module.op(check.id()).first_region)) {
    const std::vector<OpId>& ops = module.block(block).ops;
    if (!ops.empty() && module.results(ops.back()).empty()) continue;
    return check.Report(kBadRegion, "the body does not end with a return", "the program seems cut off; add the return");
  }
  return true;
}

}  // namespace

bool CheckFunction(Check& check) {
  const BlockId block = check.block(0);
  if (!block.valid()) return true;
  if (!CheckEnds(check)) return false;
  Signature* signature = check.signatures().Of(check.module(), check.id());
  if (signature && signature->inputs.size() != check.argument_count(block)) {
    return check.Fail(kBadRegion, "the body takes {} arguments, but the function's type has {}",
                      check.argument_count(block), signature->inputs.size());
  }
  for (size_t i = 0; i < check.argument_count(block); ++i) {
    const TypeId type = check.argument_type(block, i);
    if (!CheckBoundsOf(check, type) || (!check.facts()[type].flaw.empty() && !check.ExpectSound(type))) return false;
    if (signature && !MaySpell(check.module(), signature->inputs[i], type)) {
      return check.Fail(kTypeMismatch, "argument {} of the body is `{}`, but the function's type has `{}`", i,
                        check.text(type), signature->inputs[i].text);
    }
  }
  return true;
}

// Only the return of a function is compared here; other ops look at what their regions return.
bool CheckReturn(Check& check) {
  if (check.name() != "func.return") return true;
  const OpId parent = check.module().parent_op(check.id());
  if (!parent.valid() || check.module().kind(parent) != OpKind::kFunc) return true;
  Signature* signature = check.signatures().Of(check.module(), parent);
  if (!signature) return true;
  if (signature->results.size() != check.operand_count()) {
    return check.Fail(kWrongCount, "{} values are returned, but the function has {} results", check.operand_count(),
                      signature->results.size());
  }
  for (size_t i = 0; i < check.operand_count(); ++i) {
    if (MaySpell(check.module(), signature->results[i], check.operand_type(i))) continue;
    return check.Fail(kTypeMismatch, "value {} has type `{}`, but the function returns `{}`", i,
                      check.text(check.operand_type(i)), signature->results[i].text);
  }
  return true;
}

bool CheckCall(Check& check) {
  if (check.in_nested_module()) return true;
  const OpId function = FindFunction(check, "callee");
  return function.valid() && CheckCallOf(check, function);
}

bool CheckComposite(Check& check) {
  const std::string_view* text = check.Require("name");
  if (!text) return false;
  const std::string name = AsString(*text).value_or("");
  if (!IsNamespaced(name)) {
    return check.Report(kBadAttribute, fmt::format("`{}` is no name of the form namespace.op", name),
                        "write a name such as \"my_namespace.my_op\"");
  }
  if (!check.OptionalInteger("version", 0)) return false;
  if ((!check.has("decomposition") && check.region_count() > 0) || check.in_nested_module()) return true;
  const OpId function = FindFunction(check, "decomposition");
  return function.valid() && CheckCallOf(check, function);
}

}  // namespace hespas::ir::verify
