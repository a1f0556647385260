#include <algorithm>
#include <set>

#include "ir/attributes/attribute.h"
#include "ir/verify/rules.h"

namespace hespas::ir::verify {
namespace {

// Operand types; result types, where a single tuple stands for its members.
std::vector<TypeId> LaidOutTypes(Check& check, bool results) {
  std::vector<TypeId> types;
  const size_t count = results ? check.result_count() : check.operand_count();
  for (size_t i = 0; i < count; ++i) types.push_back(results ? check.result_type(i) : check.operand_type(i));
  if (results && types.size() == 1 && check.result().kind == TypeKind::kTuple) return check.result().nested;
  return types;
}

bool IsPermutation(std::vector<int64_t> dims, size_t rank) {
  std::sort(dims.begin(), dims.end());
  if (dims.size() != rank) return false;
  for (size_t i = 0; i < rank; ++i) {
    if (dims[i] != static_cast<int64_t>(i)) return false;
  }
  return true;
}

bool CheckLayouts(Check& check, std::string_view text, const std::vector<TypeId>& types, std::string_view what) {
  const std::vector<std::string_view> layouts = ListItems(text);
  if (layouts.size() != types.size()) {
    return check.Fail(kBadAttribute, "{} layouts are given for {} {}s", layouts.size(), types.size(), what);
  }
  for (size_t i = 0; i < types.size(); ++i) {
    const Type& type = check.module().types()[types[i]];
    const auto layout = AsIntegers(layouts[i]);
    if (!layout) return check.Fail(kBadAttribute, "`{}` is no layout", layouts[i]);
    if (type.kind == TypeKind::kTuple) {
      return check.Fail(kBadAttribute, "{} {} is a tuple, which cannot have a layout", what, i);
    }
    if (!type.is_tensor()) {
      if (layout->empty() || type.kind == TypeKind::kUnrankedTensor || type.kind == TypeKind::kMemref) continue;
      return check.Fail(kBadAttribute, "{} {} is `{}`, which cannot have a layout", what, i, check.text(types[i]));
    }
    if (!IsPermutation(*layout, type.dims.size())) {
      return check.Fail(kBadAttribute, "the layout {} is no permutation of the dimensions of `{}`", ShapeList(*layout),
                        check.text(types[i]));
    }
  }
  return true;
}

// The type at a path of tuple indices; invalid where the path leaves the type.
TypeId Follow(const Module& module, TypeId type, const std::vector<int64_t>& path) {
  for (const int64_t index : path) {
    const Type& tuple = module.types()[type];
    if (tuple.kind != TypeKind::kTuple || index < 0 || index >= static_cast<int64_t>(tuple.nested.size())) {
      return TypeId();
    }
    type = tuple.nested[static_cast<size_t>(index)];
  }
  return type;
}

bool SamePart(Check& check, TypeId a, TypeId b) {
  const Type& first = check.module().types()[a];
  const Type& second = check.module().types()[b];
  return first.kind == second.kind && CompatibleShapes(first, second);
}

bool CheckAlias(Check& check, std::string_view text, std::set<std::pair<int64_t, std::vector<int64_t>>>& buffers) {
  const std::vector<Entry> entries = Entries(text);
  const auto operand = AsInteger(FindEntry(entries, "operand_index").value_or("0"));
  const auto from = AsIntegers(FindEntry(entries, "operand_tuple_indices").value_or("[]"));
  const auto to = AsIntegers(FindEntry(entries, "output_tuple_indices").value_or("[]"));
  if (!operand || !from || !to) return check.Fail(kBadAttribute, "`{}` is no alias", text.substr(0, 60));
  if (*operand < 0 || *operand >= static_cast<int64_t>(check.operand_count())) {
    return check.Fail(kBadAttribute, "an alias names operand {}, but there are {}", *operand, check.operand_count());
  }
  if (check.result_count() == 0) return true;
  const TypeId source = Follow(check.module(), check.operand_type(static_cast<size_t>(*operand)), *from);
  TypeId target;
  if (check.result_count() == 1) {
    target = Follow(check.module(), check.result_type(), *to);
  } else if (!to->empty() && (*to)[0] >= 0 && (*to)[0] < static_cast<int64_t>(check.result_count())) {
    target = Follow(check.module(), check.result_type(static_cast<size_t>((*to)[0])), {to->begin() + 1, to->end()});
  }
  if (!source.valid() || !target.valid()) {
    return check.Fail(kBadAttribute, "an alias names a part that operand {} or the result does not have", *operand);
  }
  if (!SamePart(check, source, target)) {
    return check.Fail(kTypeMismatch, "an alias joins `{}` and `{}`", check.text(source), check.text(target));
  }
  const bool buffer = check.module().types()[source].kind == TypeKind::kMemref;
  if (buffer && !buffers.emplace(*operand, *from).second) {
    return check.Fail(kBadAttribute, "the buffer of operand {} is aliased more than once", *operand);
  }
  return true;
}

bool CheckBackendConfig(Check& check) {
  const std::string_view* config = check.attribute("backend_config");
  if (!config || check.loose()) return true;
  const auto version = check.OptionalInteger("api_version", 1);
  if (!version) return false;
  const std::string_view text = Trim(*config);
  if (*version == 4 && !text.starts_with('{')) {
    return check.Fail(kBadAttribute, "with `api_version` 4 `backend_config` must be a dictionary");
  }
  if (*version != 4 && !text.starts_with('"')) {
    return check.Fail(kBadAttribute, "with `api_version` {} `backend_config` must be a string", *version);
  }
  return true;
}

// Calls that make and unmake buffers.
bool CheckBuffers(Check& check) {
  const std::string_view* text = check.attribute("call_target_name");
  const std::string_view target = text ? AsEnum(*text) : std::string_view();
  const auto is_buffer = [&](TypeId id) { return check.module().types()[id].kind == TypeKind::kMemref; };
  if (target == "CreateBuffer") {
    if (check.operand_count() != 0) return check.Fail(kWrongCount, "CreateBuffer takes no operands");
    return (check.result_count() == 1 && is_buffer(check.result_type())) ||
           check.Fail(kWrongType, "CreateBuffer makes one memref");
  }
  if (target != "Pin" && target != "Unpin") return true;
  if (check.operand_count() != 1 || check.result_count() != 1) {
    return check.Fail(kWrongCount, "{} takes one operand and gives one result", target);
  }
  const TypeId buffer = target == "Pin" ? check.result_type() : check.operand_type(0);
  const TypeId tensor = target == "Pin" ? check.operand_type(0) : check.result_type();
  if (!is_buffer(buffer) || is_buffer(tensor)) {
    return check.Fail(kWrongType, "{} turns a {}", target,
                      target == "Pin" ? "tensor into a memref" : "memref into a tensor");
  }
  const Type& a = check.module().types()[buffer];
  const Type& b = check.module().types()[tensor];
  return (a.element == b.element && CompatibleShapes(a, b)) ||
         check.Fail(kTypeMismatch, "`{}` and `{}` differ in shape or element", check.text(buffer), check.text(tensor));
}

// What is called: a name, by one of the interfaces 0 (XLA's default) to 4 (typed FFI).
bool CheckTarget(Check& check) {
  constexpr int64_t kNewestInterface = 4;
  const std::string_view* target = check.attribute("call_target_name");
  if (target && !Trim(*target).starts_with('"')) {
    return check.Fail(kBadAttribute, "`call_target_name` must be a string, not `{}`", target->substr(0, 60));
  }
  const auto version = check.OptionalInteger("api_version", 1);
  if (!version) return false;
  if (*version >= 0 && *version <= kNewestInterface) return true;
  return check.Report(kBadAttribute, fmt::format("`api_version` {} is unknown", *version), "use 0 to 4");
}

}  // namespace

bool CheckCustomCall(Check& check) {
  if (check.operand_count() == 0 && check.result_count() == 0 && check.loose()) return true;
  if (!CheckTarget(check)) return false;
  const std::string_view* operands = check.attribute("operand_layouts");
  const std::string_view* results = check.attribute("result_layouts");
  if ((operands == nullptr) != (results == nullptr)) {
    return check.Report(kBadAttribute, "layouts are given for operands or results only",
                        "give both `operand_layouts` and `result_layouts`, or neither");
  }
  if (operands && (!CheckLayouts(check, *operands, LaidOutTypes(check, false), "operand") ||
                   !CheckLayouts(check, *results, LaidOutTypes(check, true), "result"))) {
    return false;
  }
  if (const std::string_view* aliases = check.attribute("output_operand_aliases")) {
    std::set<std::pair<int64_t, std::vector<int64_t>>> buffers;
    for (const std::string_view alias : ListItems(*aliases)) {
      if (!CheckAlias(check, alias, buffers)) return false;
    }
  }
  return CheckBackendConfig(check) && CheckBuffers(check);
}

}  // namespace hespas::ir::verify
