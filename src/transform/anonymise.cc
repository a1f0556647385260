#include "transform/anonymise.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "ir/attributes/attribute.h"
#include "ir/attributes/attribute_scan.h"
#include "ir/attributes/integer.h"
#include "ir/printer.h"
#include "ir/walk.h"

namespace hespas::transform {
namespace {

constexpr int64_t kKeptElements = 16;

// Attributes of dialects that an operation only carries; all others of their kind go.
constexpr std::array<std::string_view, 8> kKeptCarried = {
    "mhlo.sharding",     "sdy.sharding",       "sdy.manual_axes",  "mhlo.num_partitions",
    "mhlo.num_replicas", "tf.aliasing_output", "jax.buffer_donor", "mhlo.is_scheduled"};
// Their strings are words of the format.
constexpr std::array<std::string_view, 8> kVerbatim = {"api_version",      "comparison_direction", "compare_type",
                                                       "einsum_config",    "function_type",        "mhlo.sharding",
                                                       "precision_config", "sym_visibility"};
// Values that optimisers treat in their own way; any other says something about the model.
constexpr std::array<std::string_view, 8> kPlainValues = {"0",   "0.0",          "0.000000e+00", "1",
                                                          "1.0", "1.000000e+00", "true",         "false"};
constexpr std::array<std::string_view, 4> kKnownPrefixes = {"chlo.", "mhlo.", "stablehlo.", "__"};

template <size_t N>
bool Contains(const std::array<std::string_view, N>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool IsKnownName(std::string_view name) {
  return name.empty() || name == "main" || std::any_of(kKnownPrefixes.begin(), kKnownPrefixes.end(), [&](auto prefix) {
           return name.starts_with(prefix);
         });
}

// Whether an operation only carries the attribute for another tool.
bool IsDropped(std::string_view name) {
  return name == "loc" || name == "result_info" ||
         (name.find('.') != std::string_view::npos && !Contains(kKeptCarried, name));
}

// New names for old, in order of first appearance.
class Names {
 public:
  // Strings and `@symbols` of an attribute's text; everything else stays.
  std::string Rename(std::string_view text) {
    std::string out;
    for (size_t at = 0; at < text.size();) {
      if (text[at] == '"') {
        const size_t end = ir::scan::SkipString(text, at);
        out += fmt::format("\"{}\"", New(text.substr(at + 1, end - at - 2)));
        at = end;
      } else if (text[at] == '@') {
        at = CopySymbol(text, at, out);
      } else {
        out += text[at++];
      }
    }
    return out;
  }

  std::string New(std::string_view old) {
    if (IsKnownName(old)) return std::string(old);
    const auto [found, added] = names_.try_emplace(std::string(old), fmt::format("n{}", names_.size()));
    return found->second;
  }

 private:
  size_t CopySymbol(std::string_view text, size_t at, std::string& out) {
    size_t end = at + 1;
    std::string_view name;
    if (end < text.size() && text[end] == '"') {
      end = ir::scan::SkipString(text, end);
      name = text.substr(at + 2, end - at - 3);
    } else {
      while (end < text.size() && (ir::scan::IsWord(text[end]) || text[end] == '-')) ++end;
      name = text.substr(at + 1, end - at - 1);
    }
    out += '@' + New(name);
    return end;
  }

  std::map<std::string, std::string, std::less<>> names_;
};

std::string ArgumentAttributes(std::string_view text, Names& names) {
  std::vector<std::string> dictionaries;
  for (const std::string_view item : ir::ListItems(text)) {
    std::vector<std::string> kept;
    for (const ir::Entry& entry : ir::Entries(item)) {
      if (IsDropped(entry.name)) continue;
      const std::string value = Contains(kVerbatim, entry.name) ? std::string(entry.value) : names.Rename(entry.value);
      kept.push_back(value.empty() ? std::string(entry.name) : fmt::format("{} = {}", entry.name, value));
    }
    dictionaries.push_back(fmt::format("{{{}}}", fmt::join(kept, ", ")));
  }
  return fmt::format("[{}]", fmt::join(dictionaries, ", "));
}

// The n-th value: neither 0 nor 1, and another for each, so that no optimiser sees more in it than in what was there.
std::string ValueFor(const ir::Element& element, size_t n) {
  constexpr size_t kFirst = 2;
  constexpr size_t kValues = 100;  // that an i8 and an f8 can hold
  const size_t value = kFirst + n % kValues;
  if (IsInteger(element)) return element.bits == 1 ? "false" : fmt::format("{}", value);
  const std::string number = fmt::format("{:.6e}", static_cast<double>(value));
  return element.complex ? fmt::format("({},{})", number, number) : number;
}

// What a constant becomes; nothing where it may stay.
std::optional<std::string> ConstantValue(const ir::Module& module, ir::OpId op, std::string_view text,
                                         std::map<std::string, size_t, std::less<>>& known) {
  const ir::TypeId type = module.type_id(module.result(op));
  const ir::Type& described = module.types()[type];
  if (!described.is_tensor() || described.element.kind == ir::ElementKind::kQuantised) return std::nullopt;
  if (IsInteger(described.element) && described.element_count() <= kKeptElements) return std::nullopt;
  const auto dense = ir::AsDense(text);
  // A single hexadecimal value is an infinity or not a number.
  if (dense && (dense->form == ir::DenseForm::kEmpty || Contains(kPlainValues, ir::Trim(dense->payload))))
    return std::nullopt;
  if (dense && dense->form == ir::DenseForm::kSplat && ir::Trim(dense->payload).starts_with("0x")) return std::nullopt;
  const size_t n = known.try_emplace(std::string(dense ? dense->payload : text), known.size()).first->second;
  return fmt::format("dense<{}> : {}", ValueFor(described.element, n), module.types().Text(type));
}

bool IsLibraryCall(const ir::Module& module, ir::OpId op) {
  const std::string_view* target = module.attribute(op, "call_target_name");
  return target != nullptr && ir::AsString(*target).value_or("").starts_with("__");
}

class Anonymiser {
 public:
  explicit Anonymiser(const ir::Module& module) : module_(module) {}

  // The attribute's new text, or nothing where it goes.
  std::optional<std::string> Changed(ir::OpId op, std::string_view name, std::string_view text) {
    if (name == "backend_config" || name == "mhlo.backend_config") {
      return IsLibraryCall(module_, op) ? std::optional(std::string(text)) : std::nullopt;
    }
    if (IsDropped(name) || (op == module_.root() && name == "sym_name")) return std::nullopt;
    if (name == "arg_attrs" || name == "res_attrs") return ArgumentAttributes(text, names_);
    if (name == "value" && module_.kind(op) == ir::OpKind::kConstant) {
      return ConstantValue(module_, op, text, constants_).value_or(std::string(text));
    }
    if (name == "call_target_name" || Contains(kVerbatim, name)) return std::string(text);
    return names_.Rename(text);
  }

 private:
  const ir::Module& module_;
  Names names_;
  std::map<std::string, size_t, std::less<>> constants_;
};

}  // namespace

std::string Anonymise(ir::Module module) {
  Anonymiser anonymiser(module);
  std::vector<ir::OpId> ops{module.root()};
  ir::WalkNested(module, module.root(), [&ops](ir::OpId op) { ops.push_back(op); });
  for (const ir::OpId op : ops) {
    std::vector<ir::Attribute> attributes;
    for (const ir::Attribute& attribute : module.attributes(op)) {
      auto changed = anonymiser.Changed(op, module.name(attribute.name), attribute.text);
      if (changed) attributes.push_back({attribute.name, module.Keep(std::move(*changed))});
    }
    module.SetAttributes(op, attributes);
  }
  return ir::PrintGeneric(module);
}

}  // namespace hespas::transform
