// Attributes and types of bytecode, decoded on first use to the IR's types and to StableHLO's attribute text.
//
// - VHLO attributes and types come out in the spelling of StableHLO and builtin: `#vhlo.integer_v1<1 : i64>` as `1 :
// i64`.
// - Payloads of dialects not known here are kept as opaque text.
// - Nesting and the total text are limited (E0304), so that no file expands without bound.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ir/module.h"
#include "read/bytecode/container.h"
#include "read/text_arena.h"

namespace hespas::read::bytecode {

struct NamedText {
  std::string_view name;
  std::string_view text;
};

class Decoder {
 public:
  Decoder(std::string_view bytes, const Container& container, ir::Module& module, TextArena& arena, Failure& failure);

  ir::TypeId Type(uint64_t index);
  // The attribute's text; "unit" for a unit attribute.
  std::string_view Attribute(uint64_t index);
  // Where an op comes from, "loc(...)"; empty where the index leads nowhere: nothing depends on it.
  std::string_view Location(uint64_t index) {
    return index < attributes_.size() ? Attribute(index) : std::string_view();
  }
  // The entries of a dictionary.
  std::vector<NamedText> Dictionary(uint64_t index);

  // --- for the payload readers of the dialects -----------------------------------------------------------------------
  const Container& container() const { return container_; }
  ir::TypeTable& types() { return module_.types(); }
  std::string TypeText(uint64_t index) { return types().Text(Type(index)); }
  void Fail(const DiagnosticKind& kind, std::string message);
  bool ok() const { return failure_.kind == nullptr; }

 private:
  ByteReader Payload(const Entry& entry) {
    return ByteReader(bytes_, entry.offset, entry.offset + entry.size, failure_);
  }
  std::string DecodeAttribute(const Entry& entry);
  ir::Type DecodeType(const Entry& entry);
  std::string OpaqueText(char sigil, const Entry& entry);
  bool Enter();

  std::string_view bytes_;
  const Container& container_;
  ir::Module& module_;
  TextArena& arena_;
  Failure& failure_;
  std::vector<std::string_view> attributes_;
  std::vector<uint8_t> known_attributes_;
  std::vector<ir::TypeId> types_;
  size_t depth_ = 0;
  size_t budget_;
};

// A scalar type of a given element.
ir::Type ScalarType(ir::ElementKind kind, uint16_t bits);
// A shaped type over the element that `element` represents.
ir::Type ShapedType(ir::TypeKind kind, const ir::Type& element, std::vector<int64_t> dims);

// MLIR's quoted string, its symbol `@name`, and a dictionary key.
std::string QuotedText(std::string_view characters);
std::string SymbolText(std::string_view name);
std::string KeyText(std::string_view name);
// The characters of a text made by QuotedText; the text itself where it is not quoted.
std::string Unquoted(std::string_view text);

}  // namespace hespas::read::bytecode
