#include "read/hlo/text/shape.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "ir/verify/type_facts.h"
#include "read/hlo/text/scanner.h"

namespace hespas::read::hlo {
namespace {

using ir::ElementKind;

constexpr size_t kMaximumTupleDepth = 256;

struct Primitive {
  std::string_view name;
  ElementKind kind;
  uint16_t bits;
  bool complex = false;
};

constexpr Primitive kPrimitives[] = {
    {"f32", ElementKind::kF32, 32},
    {"bf16", ElementKind::kBF16, 16},
    {"s32", ElementKind::kInteger, 32},
    {"pred", ElementKind::kInteger, 1},
    {"f16", ElementKind::kF16, 16},
    {"f64", ElementKind::kF64, 64},
    {"u8", ElementKind::kUnsigned, 8},
    {"u32", ElementKind::kUnsigned, 32},
    {"s8", ElementKind::kInteger, 8},
    {"s64", ElementKind::kInteger, 64},
    {"u64", ElementKind::kUnsigned, 64},
    {"s1", ElementKind::kSigned, 1},
    {"s2", ElementKind::kInteger, 2},
    {"s4", ElementKind::kInteger, 4},
    {"s16", ElementKind::kInteger, 16},
    {"u1", ElementKind::kUnsigned, 1},
    {"u2", ElementKind::kUnsigned, 2},
    {"u4", ElementKind::kUnsigned, 4},
    {"u16", ElementKind::kUnsigned, 16},
    {"f4e2m1fn", ElementKind::kF4E2M1FN, 4},
    {"f8e3m4", ElementKind::kF8E3M4, 8},
    {"f8e4m3", ElementKind::kF8E4M3, 8},
    {"f8e4m3fn", ElementKind::kF8E4M3FN, 8},
    {"f8e4m3fnuz", ElementKind::kF8E4M3FNUZ, 8},
    {"f8e4m3b11fnuz", ElementKind::kF8E4M3B11FNUZ, 8},
    {"f8e5m2", ElementKind::kF8E5M2, 8},
    {"f8e5m2fnuz", ElementKind::kF8E5M2FNUZ, 8},
    {"f8e8m0fnu", ElementKind::kF8E8M0FNU, 8},
    {"c64", ElementKind::kF32, 32, true},
    {"c128", ElementKind::kF64, 64, true},
};

// Reads "4,<=8,?" into dims.
bool ParseDimensions(std::string_view text, std::vector<int64_t>& dims) {
  Scanner scan(text);
  scan.SkipBlanks();
  while (!scan.at_end()) {
    if (scan.Take('?')) {
      dims.push_back(ir::kDynamic);
    } else {
      if (scan.Take('<') && !scan.Take('=')) return false;
      scan.SkipBlanks();
      int64_t value = 0;
      const std::string_view rest = scan.rest();
      const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
      if (error != std::errc() || value < 0) return false;
      scan.Seek(scan.position() + static_cast<size_t>(end - rest.data()));
      dims.push_back(value);
    }
    scan.SkipBlanks();
    if (scan.at_end()) return true;
    if (!scan.Take(',')) return false;
    scan.SkipBlanks();
  }
  return true;
}

// {n-1,...,1,0} without tiles or memory space: what a reader would assume anyway.
bool IsDefaultLayout(std::string_view layout, size_t rank) {
  std::string expected = "{";
  for (size_t i = rank; i > 0; --i) expected += fmt::format("{}{}", i - 1, i > 1 ? "," : "");
  return layout.empty() || layout == expected + "}";
}

// Whether `{1,0:T(8,128)}` names each dimension once, minor to major; it may also leave them open.
bool IsLayoutOf(std::string_view layout, size_t rank) {
  if (!layout.starts_with('{')) return true;
  const std::string_view list = layout.substr(1, layout.find_first_of(":}") - 1);
  if (list.empty()) return true;
  std::vector<bool> named(rank, false);
  size_t count = 0;
  for (const char* p = list.data(); p <= list.data() + list.size(); ++p) {
    while (p < list.data() + list.size() && *p == ' ') ++p;
    size_t dimension = 0;
    const auto [end, error] = std::from_chars(p, list.data() + list.size(), dimension);
    if (error != std::errc() || dimension >= rank || named[dimension]) return false;
    named[dimension] = true;
    ++count;
    p = end;
  }
  return count == rank;
}

}  // namespace

std::optional<ir::Element> ElementOf(std::string_view primitive) {
  for (const Primitive& row : kPrimitives) {
    if (row.name == primitive) return ir::Element{.kind = row.kind, .complex = row.complex, .bits = row.bits};
  }
  return std::nullopt;
}

std::optional<ShapeId> ShapeTable::Find(std::string_view text) {
  const auto found = index_.find(text);
  if (found != index_.end()) return found->second;
  const auto shape = text.starts_with('(') ? ParseTuple(text) : ParseArray(text);
  if (shape) index_.emplace(text, *shape);
  return shape;
}

std::optional<ShapeId> ShapeTable::ParseArray(std::string_view text) {
  if (text.starts_with("b(") && text.ends_with(')')) {
    const std::string_view inner = text.substr(2, text.size() - 3);
    return inner.starts_with('(') || inner.starts_with("b(") ? std::nullopt : Find(inner);
  }
  const size_t open = text.find('[');
  const size_t close = text.find(']');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) return std::nullopt;
  const std::string_view primitive = text.substr(0, open);
  const std::string_view layout = text.substr(close + 1);
  ir::Type type;
  type.kind = ir::TypeKind::kTensor;
  if (!ParseDimensions(text.substr(open + 1, close - open - 1), type.dims)) return std::nullopt;
  if (primitive == "token") {
    type.kind = ir::TypeKind::kToken;
    type.text = "!stablehlo.token";
    type.dims.clear();
  } else if (primitive == "opaque") {
    type.kind = ir::TypeKind::kOpaque;
    type.text = "!mhlo.opaque";
    type.dims.clear();
  } else if (const auto element = ElementOf(primitive)) {
    type.element = *element;
  } else {
    return std::nullopt;
  }
  if (type.is_tensor() && !IsLayoutOf(layout, type.dims.size())) return std::nullopt;
  return Leaf(std::move(type), layout);
}

ShapeId ShapeTable::Array(std::vector<int64_t> dims, const ir::Element& element) {
  ir::Type type;
  type.kind = ir::TypeKind::kTensor;
  type.element = element;
  type.dims = std::move(dims);
  return Leaf(std::move(type), {});
}

ShapeId ShapeTable::Leaf(ir::Type type, std::string_view layout) {
  Shape shape{.first_leaf = static_cast<uint32_t>(leaf_types_.size()), .leaf_count = 1};
  if (type.is_tensor() && !IsDefaultLayout(layout, type.dims.size())) {
    shape.result_layout = arena_.Copy(fmt::format("\"{}\"", layout));
  }
  shape.type = types_.Intern(std::move(type));
  leaf_types_.push_back(shape.type);
  shapes_.push_back(shape);
  return ShapeId(shapes_.size() - 1);
}

bool ShapeTable::CompatibleLeaves(ir::TypeId a, ir::TypeId b) const {
  if (a == b) return true;
  const ir::Type& first = types_[a];
  const ir::Type& second = types_[b];
  return first.kind == second.kind && first.element == second.element && ir::verify::CompatibleShapes(first, second);
}

bool ShapeTable::CompatibleLeaves(std::span<const ir::TypeId> a, std::span<const ir::TypeId> b) const {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [this](ir::TypeId p, ir::TypeId q) { return CompatibleLeaves(p, q); });
}

bool ShapeTable::Compatible(ShapeId a, ShapeId b) const {
  return a == b ||
         (shapes_[a.index()].is_tuple == shapes_[b.index()].is_tuple &&
          shapes_[a.index()].child_count == shapes_[b.index()].child_count && CompatibleLeaves(leaves(a), leaves(b)));
}

ShapeId ShapeTable::Tuple(const std::vector<ShapeId>& members) {
  Shape shape{.is_tuple = true, .first_leaf = static_cast<uint32_t>(leaf_types_.size())};
  shape.first_child = static_cast<uint32_t>(children_.size());
  shape.child_count = static_cast<uint32_t>(members.size());
  std::string layouts;
  bool special = false;
  for (const ShapeId member : members) {
    const Shape& part = shapes_[member.index()];
    children_.push_back(member);
    child_offsets_.push_back(static_cast<uint32_t>(leaf_types_.size()) - shape.first_leaf);
    for (uint32_t i = 0; i < part.leaf_count; ++i) {
      const ir::TypeId leaf = leaf_types_[part.first_leaf + i];
      leaf_types_.push_back(leaf);
    }
    special = special || !part.result_layout.empty();
    const bool quoted = part.result_layout.size() > 2;
    layouts += fmt::format("{}{}", layouts.empty() ? "(" : ", ",
                           quoted ? part.result_layout.substr(1, part.result_layout.size() - 2) : "");
  }
  shape.leaf_count = static_cast<uint32_t>(leaf_types_.size()) - shape.first_leaf;
  if (special) shape.result_layout = arena_.Copy(fmt::format("\"{})\"", layouts));
  shapes_.push_back(shape);
  return ShapeId(shapes_.size() - 1);
}

std::optional<ShapeId> ShapeTable::ParseTuple(std::string_view text) {
  Scanner scan(text);
  std::vector<OpenTuple> open;
  while (true) {
    scan.SkipBlanks();
    std::optional<ShapeId> done;
    if (open.size() > kMaximumTupleDepth) return std::nullopt;
    if (scan.Take('(')) {
      open.emplace_back();
      if (scan.Take(')')) {
        done = Tuple({});
        open.pop_back();
      }
    } else {
      const std::string_view member = scan.Shape();
      if (member.empty() || open.empty()) return std::nullopt;
      done = Find(member);
      if (!done) return std::nullopt;
    }
    // Close as many tuples as end here.
    while (done) {
      if (open.empty()) return done;
      open.back().children.push_back(*done);
      done.reset();
      if (scan.Take(',')) break;
      if (!scan.Take(')')) return std::nullopt;
      done = Tuple(open.back().children);
      open.pop_back();
    }
  }
}

}  // namespace hespas::read::hlo
