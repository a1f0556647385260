#include "ir/verify/type_facts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "ir/attributes/attribute.h"

namespace hespas::ir::verify {
namespace {

struct ClassName {
  ClassMask mask;
  std::string_view name;
};
constexpr ClassName kClassNames[] = {{kBool, "bool"},
                                     {kSigned, "integer"},
                                     {kUnsigned, "unsigned integer"},
                                     {kFloat, "float"},
                                     {kComplex, "complex"},
                                     {kQuantised, "per-tensor quantised"},
                                     {kQuantisedAxis, "per-axis quantised"},
                                     {kIndex, "index"},
                                     {kToken, "token"},
                                     {kTuple, "tuple"},
                                     {kBuffer, "memref"},
                                     {kFuture, "future"}};

constexpr double kSmallestF16 = 5.9604644775390625e-8;  // the least positive f16
constexpr double kLargestF16 = 65504;

bool KnownWidth(uint16_t bits) { return bits == 2 || bits == 4 || bits == 8 || bits == 16 || bits == 32 || bits == 64; }

ClassMask PlainClass(const Element& element) {
  switch (element.kind) {
    case ElementKind::kInteger:
      return element.bits == 1 ? kBool : KnownWidth(element.bits) ? kSigned : kOther;
    case ElementKind::kSigned:
      return KnownWidth(element.bits) ? kSigned : kOther;
    case ElementKind::kUnsigned:
      return KnownWidth(element.bits) ? kUnsigned : kOther;
    case ElementKind::kIndex:
      return kIndex;
    case ElementKind::kNone:
    case ElementKind::kQuantised:
    case ElementKind::kOpaque:
    case ElementKind::kF80:
    case ElementKind::kF128:
    case ElementKind::kTF32:
      return kOther;
    default:
      return kFloat;
  }
}

// What is wrong with the parameters of a quantised element, empty where nothing is.
std::string_view FlawOf(const Quantisation& q) {
  const int64_t least = q.is_unsigned ? 0 : -(int64_t{1} << (q.bits - 1));
  const int64_t most = (int64_t{1} << (q.is_unsigned ? q.bits : q.bits - 1)) - 1;
  if (q.least < least || q.most > most) return "its range exceeds the storage type";
  if (q.least >= q.most) return "its range is empty";
  for (const double scale : q.scales) {
    if (!(scale > 0) || !std::isfinite(scale)) return "a scale is not positive and finite";
    if (q.expressed == "f16" && (scale < kSmallestF16 || scale > kLargestF16)) return "a scale is out of f16's range";
  }
  if (!q.per_axis) return q.scales.size() == 1 ? "" : "it has several scales, but no dimension";
  return q.dimension < 0 ? "its dimension is negative" : "";
}

// The same of what MLIR's type allows, but StableHLO's tensors do not.
std::string_view MisfitOf(const Type& type, const Quantisation& q) {
  for (const int64_t zero : q.zero_points) {
    if (zero < q.least || zero > q.most) return "a zero point is out of the range of the storage";
  }
  if (!q.per_axis || type.kind == TypeKind::kUnrankedTensor) return "";
  if (q.dimension >= static_cast<int64_t>(type.dims.size())) return "its dimension does not exist";
  const int64_t size = type.dims[static_cast<size_t>(q.dimension)];
  return CompatibleSizes(size, static_cast<int64_t>(q.scales.size())) ? ""
                                                                      : "its dimension has another size than scales";
}

ClassMask ClassOf(const Type& type, const Quantisation* quantisation) {
  switch (type.kind) {
    case TypeKind::kTensor:
    case TypeKind::kUnrankedTensor:
      break;
    case TypeKind::kToken:
      return kToken;
    case TypeKind::kTuple:
      return kTuple;
    case TypeKind::kMemref:
      return kBuffer;
    case TypeKind::kFuture:
      return kFuture;
    default:
      return kOther;
  }
  if (quantisation) return quantisation->per_axis ? kQuantisedAxis : kQuantised;
  if (!type.element.complex) return PlainClass(type.element);
  return type.element.kind == ElementKind::kF32 || type.element.kind == ElementKind::kF64 ? kComplex : kOther;
}

// One "0.1:3" or "0.1"; false where it is no scale.
bool ReadScale(std::string_view text, Quantisation& out) {
  const size_t colon = text.find(':');
  const auto scale = AsFloat(Trim(text.substr(0, colon)));
  const auto zero = colon == std::string_view::npos ? std::optional<int64_t>(0) : AsInteger(text.substr(colon + 1));
  if (!scale || !zero) return false;
  out.scales.push_back(*scale);
  out.zero_points.push_back(*zero);
  return true;
}

// "i8", "u8" or "i8<-127:127>".
bool ReadStorage(std::string_view text, Quantisation& out) {
  const size_t range = std::min(text.find('<'), text.size());
  std::string_view storage = Trim(text.substr(0, range));
  out.is_unsigned = storage.starts_with('u');
  if (out.is_unsigned) storage.remove_prefix(1);
  if (storage.starts_with('i')) storage.remove_prefix(storage.size() > 1 ? 1 : 0);
  out.bits = AsInteger(storage).value_or(0);
  if (out.bits < 1 || out.bits > 32 || !(out.is_unsigned || text.starts_with('i'))) return false;
  out.least = out.is_unsigned ? 0 : -(int64_t{1} << (out.bits - 1));
  out.most = (int64_t{1} << (out.is_unsigned ? out.bits : out.bits - 1)) - 1;
  if (range == text.size()) return true;
  const size_t colon = text.find(':', range);
  if (colon == std::string_view::npos || !text.ends_with('>')) return false;
  const auto least = AsInteger(text.substr(range + 1, colon - range - 1));
  const auto most = AsInteger(text.substr(colon + 1, text.size() - colon - 2));
  if (!least || !most) return false;
  out.least = *least;
  out.most = *most;
  return true;
}

// "i8<-127:127>:f32:1": storage with an optional range, expressed type, optional dimension.
bool ReadQuantisedTypes(std::string_view text, Quantisation& out) {
  size_t colon = text.find(':');
  const size_t range = text.find('<');
  if (range < colon) colon = text.find(':', std::min(text.find('>', range), text.size()));
  if (colon == std::string_view::npos || !ReadStorage(Trim(text.substr(0, colon)), out)) return false;
  text = Trim(text.substr(colon + 1));
  const size_t axis = text.find(':');
  out.expressed = Trim(text.substr(0, axis));
  if (axis == std::string_view::npos) return true;
  const auto dimension = AsInteger(text.substr(axis + 1));
  out.per_axis = dimension.has_value();
  out.dimension = dimension.value_or(-1);
  return out.per_axis;
}

bool SameStorage(const Quantisation& a, const Quantisation& b) {
  return a.is_unsigned == b.is_unsigned && a.bits == b.bits && a.least == b.least && a.most == b.most &&
         a.expressed == b.expressed;
}

// Element text behind quantisation: "f32" of a quantised f32.
std::string Expressed(TypeFactTable& facts, TypeId id) {
  const Quantisation* q = facts[id].quantisation;
  return q ? std::string(q->expressed) : ElementText(facts.types()[id].element);
}

bool BoundAllows(const std::vector<int64_t>& bounds, size_t i, int64_t size) {
  return i >= bounds.size() || bounds[i] == kDynamic || size == kDynamic || size <= bounds[i];
}

bool WithinBounds(const Type& a, const Type& b) {
  if (a.encoding.empty() && b.encoding.empty()) return true;
  const std::vector<int64_t> of_a = Bounds(a);
  const std::vector<int64_t> of_b = Bounds(b);
  for (size_t i = 0; i < a.dims.size(); ++i) {
    if (!BoundAllows(of_a, i, b.dims[i]) || !BoundAllows(of_b, i, a.dims[i])) return false;
  }
  return true;
}

bool CompatibleTensors(TypeFactTable& facts, TypeId a, TypeId b) {
  const Type& first = facts.types()[a];
  const Type& second = facts.types()[b];
  if (!CompatibleElements(facts, a, b)) return false;
  if (first.kind == TypeKind::kUnrankedTensor || second.kind == TypeKind::kUnrankedTensor) return true;
  return CompatibleShapes(first, second) && WithinBounds(first, second);
}

bool IsTensor(const Type& type) { return type.kind == TypeKind::kTensor || type.kind == TypeKind::kUnrankedTensor; }

}  // namespace

std::string ClassNames(ClassMask mask) {
  std::vector<std::string_view> names;
  for (const ClassName& row : kClassNames) {
    if (mask & row.mask) names.push_back(row.name);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

TypeFacts TypeFactTable::Find(const Type& type) {
  TypeFacts facts;
  facts.ranked = type.kind == TypeKind::kTensor;
  facts.static_shape = type.has_static_shape();
  if (type.element.kind == ElementKind::kQuantised) facts.quantisation = Parse(type.element);
  const bool tensor = type.kind == TypeKind::kTensor || type.kind == TypeKind::kUnrankedTensor;
  if (facts.quantisation && tensor) {
    facts.flaw = FlawOf(*facts.quantisation);
    facts.misfit = facts.flaw.empty() ? MisfitOf(type, *facts.quantisation) : "";
  }
  facts.classes = facts.flaw.empty() && facts.misfit.empty() ? ClassOf(type, facts.quantisation) : kOther;
  return facts;
}

// Nothing for texts that are no `!quant.uniform<storage:expressed, scales>`.
const Quantisation* TypeFactTable::Parse(const Element& element) {
  std::string_view text = Trim(element.text);
  if (text.starts_with('!')) text.remove_prefix(1);
  if (!text.starts_with("quant.uniform<") || !text.ends_with('>')) return nullptr;
  text = text.substr(14, text.size() - 15);
  const size_t comma = text.find(',');
  Quantisation out;
  if (comma == std::string_view::npos || !ReadQuantisedTypes(text.substr(0, comma), out)) return nullptr;
  const std::string_view scales = Trim(text.substr(comma + 1));
  if (scales.starts_with('{')) {
    for (const std::string_view scale : ListItems(scales)) {
      if (!ReadScale(scale, out)) return nullptr;
    }
  } else if (!ReadScale(scales, out)) {
    return nullptr;
  }
  quantisations_.push_back(std::move(out));
  return &quantisations_.back();
}

std::vector<int64_t> Bounds(const Type& type) {
  std::string_view text = type.encoding;
  if (text.empty()) return {};
  std::vector<std::string_view> items;
  if (text.find(".bounds<") != std::string_view::npos) {
    items = ListItems(text.substr(text.find('<')));
  } else if (const auto list = FindEntry(Entries(text), "bounds")) {
    items = ListItems(*list);
  }
  std::vector<int64_t> bounds;
  bounds.reserve(items.size());
  for (const std::string_view item : items) bounds.push_back(AsInteger(item).value_or(kDynamic));
  return bounds;
}

std::vector<int64_t> UpperSizes(const Type& type) {
  std::vector<int64_t> sizes = type.dims;
  if (type.encoding.empty()) return sizes;
  const std::vector<int64_t> bounds = Bounds(type);
  for (size_t i = 0; i < sizes.size() && i < bounds.size(); ++i) {
    if (sizes[i] == kDynamic) sizes[i] = bounds[i];
  }
  return sizes;
}

bool CompatibleShapes(const Type& a, const Type& b) {
  return std::equal(a.dims.begin(), a.dims.end(), b.dims.begin(), b.dims.end(), CompatibleSizes);
}

bool CompatibleElements(TypeFactTable& facts, TypeId a, TypeId b) {
  const Element& first = facts.types()[a].element;
  const Element& second = facts.types()[b].element;
  if (first.kind != ElementKind::kQuantised && second.kind != ElementKind::kQuantised) {
    return first == second || (facts.mixed_precision() && first.complex == second.complex &&
                               PlainClass(first) == kFloat && PlainClass(second) == kFloat);
  }
  const Quantisation* p = facts[a].quantisation;
  const Quantisation* q = facts[b].quantisation;
  if (p && q) return SameStorage(*p, *q);
  return Expressed(facts, a) == Expressed(facts, b);
}

bool Compatible(TypeFactTable& facts, TypeId a, TypeId b) {
  std::vector<std::pair<TypeId, TypeId>> pending = {{a, b}};
  while (!pending.empty()) {
    const auto [p, q] = pending.back();
    pending.pop_back();
    if (p == q) continue;
    const Type& first = facts.types()[p];
    const Type& second = facts.types()[q];
    if (IsTensor(first) && IsTensor(second)) {
      if (!CompatibleTensors(facts, p, q)) return false;
      continue;
    }
    if (first.kind != second.kind || first.nested.size() != second.nested.size()) return false;
    if (first.nested.empty()) {
      if (first.element != second.element || first.text != second.text || !CompatibleShapes(first, second))
        return false;
    }
    for (size_t i = 0; i < first.nested.size(); ++i) pending.emplace_back(first.nested[i], second.nested[i]);
  }
  return true;
}

bool Promotable(TypeFactTable& facts, TypeId from, TypeId to) {
  const Element& a = facts.types()[from].element;
  const Element& b = facts.types()[to].element;
  if (a == b || (facts.mixed_precision() && CompatibleElements(facts, from, to))) return true;
  const Quantisation* p = facts[from].quantisation;
  const Quantisation* q = facts[to].quantisation;
  if (p && q) return p->expressed == q->expressed && p->bits <= q->bits;
  if (a.complex != b.complex || PlainClass(a) != PlainClass(b)) return false;
  return (PlainClass(a) & (kInteger | kFloat)) != 0 && a.bits <= b.bits;
}

}  // namespace hespas::ir::verify
