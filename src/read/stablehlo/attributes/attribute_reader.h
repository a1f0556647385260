// Steps over attributes and hands out their text; aliases at the outermost level are replaced by what they represent.
//
// - Builtin attributes are checked in full, dialect attributes as far as the table in dialect_attributes.h knows them.
// - Iterative: nesting costs a byte a level.
#pragma once

#include <string>
#include <string_view>

#include "ir/module.h"
#include "read/stablehlo/aliases.h"
#include "read/stablehlo/cursor.h"
#include "read/stablehlo/type_reader.h"

namespace hespas::read {

class AttributeReader {
 public:
  AttributeReader(Cursor& cursor, ir::Module& module, AliasTable& aliases, TypeReader& types)
      : c_(cursor), module_(module), aliases_(aliases), types_(types) {}

  bool Read(std::string_view& text);
  // The type after the colon of the last dense or number read by Read; invalid where there was none.
  ir::TypeId last_type() const { return last_type_; }
  // `[...]`, `{...}`, `<...>` or `(...)` as it is.
  bool ReadBracketed(std::string_view& text);
  // What the alias `name` represents; follows chains.
  bool Resolve(std::string_view name, std::string_view& text);

 private:
  bool ReadValue(std::string& closers, bool& opened);
  bool ReadKey();
  bool ReadWordValue();
  bool ReadNumber();
  bool ReadHash();
  bool ReadDenseAttribute(size_t start);
  bool ReadArray();
  bool ReadOptionalType();
  bool ReadTypedBody();

  Cursor& c_;
  ir::Module& module_;
  AliasTable& aliases_;
  TypeReader& types_;
  ir::TypeId last_type_;
};

}  // namespace hespas::read
