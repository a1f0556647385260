// Reads types. The text of a type met before is looked up, not read again.
//
// - Nesting deeper than kMaxTypeDepth is an error.
// - Unknown dialect types are kept verbatim.
#pragma once

#include <string_view>
#include <vector>

#include "ir/module.h"
#include "read/stablehlo/aliases.h"
#include "read/stablehlo/cursor.h"
#include "read/stablehlo/text_map.h"

namespace hespas::read {

inline constexpr int kMaxTypeDepth = 400;
inline constexpr size_t kMaxTypeSize = size_t{1} << 20;  // types in a type; aliases can multiply them

class TypeReader {
 public:
  TypeReader(Cursor& cursor, ir::Module& module, AliasTable& aliases)
      : c_(cursor), module_(module), types_(module.types()), aliases_(aliases) {}

  bool Read(ir::TypeId& out);
  // `(L(type)) -> type` or `(L(type)) -> (L(type))`; appends.
  bool ReadFunction(std::vector<ir::TypeId>& inputs, std::vector<ir::TypeId>& results);
  // L(type) at least one; appends.
  bool ReadList(std::vector<ir::TypeId>& out);
  // `(L(type))`; appends.
  bool ReadParenthesised(std::vector<ir::TypeId>& out);
  // Whether a type may start here; for telling attributes of type form from others.
  static bool IsTypeWord(std::string_view word);

 private:
  bool ReadUncached(ir::TypeId& out);
  bool ReadFunctionType(ir::TypeId& out);
  bool ReadShaped(ir::TypeKind kind, ir::TypeId& out);
  bool ReadDimensions(ir::Type& type);
  bool ReadElement(ir::Type& type);
  bool ReadTupleLike(ir::TypeKind kind, ir::TypeId& out);
  bool ReadDialectType(ir::TypeId& out);
  bool ReadAlias(std::string_view name, ir::TypeId& out);
  bool ReadTail(ir::Type& type);
  bool Intern(ir::Type type, size_t offset, ir::TypeId& out);
  bool CheckBounds(const ir::Type& type);
  bool CheckFuture(size_t offset, ir::TypeId id);
  bool ReadEncodingAlias(std::string_view name, std::string& out);

  Cursor& c_;
  ir::Module& module_;
  ir::TypeTable& types_;
  AliasTable& aliases_;
  // A tensor type met lately: its text ends with the bracket that closes it, so that a prefix of what stands at the
  // cursor is the whole type.
  struct Recent {
    std::string_view text;
    ir::TypeId type;
    uint32_t telling = 0;  // four bytes behind `tensor<`
  };
  bool ReadRecent(ir::TypeId& out);
  void Remember(std::string_view text, ir::TypeId type);

  TextMap<ir::TypeId> cache_;
  Recent recent_[4];
  size_t next_recent_ = 0;
  std::vector<uint32_t> sizes_;  // by TypeId: how many types it holds, itself included; 0 represents 1
  int depth_ = 0;
};

}  // namespace hespas::read
