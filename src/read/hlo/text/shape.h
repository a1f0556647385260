// Shapes of HLO text, interned by their text: `bf16[4,8]{1,0:T(8,128)}`, `(f32[], (s32[2], token[]))`.
//
// - A shape is flattened to leaves (arrays, tokens, opaque values), each of one IR type.
// - A bounded dynamic dimension `<=N` takes its bound; layouts are kept as text, where they are not the default.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/id.h"
#include "ir/type_table.h"
#include "read/text_arena.h"

namespace hespas::read::hlo {

HESPAS_ID(ShapeId);

struct Shape {
  bool is_tuple = false;
  uint32_t first_leaf = 0;  // into the table's leaf types
  uint32_t leaf_count = 0;
  uint32_t first_child = 0;  // tuples: into the table's children
  uint32_t child_count = 0;
  ir::TypeId type;                 // of a leaf
  std::string_view result_layout;  // attribute text, empty where all layouts are the default ones
};

class ShapeTable {
 public:
  ShapeTable(ir::TypeTable& types, TextArena& arena) : types_(types), arena_(arena) {}

  // The shape spelt by `text` (as Scanner::Shape returns it); nothing where it is malformed.
  std::optional<ShapeId> Find(std::string_view text);

  // Shapes that no text spells.
  ShapeId Array(std::vector<int64_t> dims, const ir::Element& element);
  ShapeId Tuple(const std::vector<ShapeId>& members);

  const Shape& operator[](ShapeId id) const { return shapes_[id.index()]; }
  const ir::Type& type(ShapeId id) const { return types_[shapes_[id.index()].type]; }
  // Equal but for layouts and dynamic sizes.
  bool Compatible(ShapeId a, ShapeId b) const;
  bool CompatibleLeaves(ir::TypeId a, ir::TypeId b) const;
  bool CompatibleLeaves(std::span<const ir::TypeId> a, std::span<const ir::TypeId> b) const;
  std::span<const ir::TypeId> leaves(ShapeId id) const {
    return {leaf_types_.data() + shapes_[id.index()].first_leaf, shapes_[id.index()].leaf_count};
  }
  ShapeId child(ShapeId id, size_t i) const { return children_[shapes_[id.index()].first_child + i]; }
  // How many leaves are before the i-th child.
  uint32_t child_offset(ShapeId id, size_t i) const { return child_offsets_[shapes_[id.index()].first_child + i]; }

 private:
  struct OpenTuple {
    std::vector<ShapeId> children;
  };
  std::optional<ShapeId> ParseArray(std::string_view text);
  ShapeId Leaf(ir::Type type, std::string_view layout);
  std::optional<ShapeId> ParseTuple(std::string_view text);

  ir::TypeTable& types_;
  TextArena& arena_;
  std::unordered_map<std::string_view, ShapeId> index_;
  std::vector<Shape> shapes_;
  std::vector<ir::TypeId> leaf_types_;
  std::vector<ShapeId> children_;
  std::vector<uint32_t> child_offsets_;
};

inline bool IsFloat(const ir::Element& element) {
  return element.kind >= ir::ElementKind::kF64 && element.kind <= ir::ElementKind::kF6E3M2FN;
}

// The IR's element of an HLO primitive type ("pred", "bf16", "u8", "c64").
std::optional<ir::Element> ElementOf(std::string_view primitive);

}  // namespace hespas::read::hlo
