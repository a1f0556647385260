// MLIR's own spelling of attributes and types, from any spelling a reader keeps.
//
// - Builtin attributes, and the struct-like ones of stablehlo and chlo, are rewritten in full; attributes of other
//   dialects only as far as aliases inside them go.
// - Aliases come from the module's table. Nesting beyond kMaxDepth is left as it is.
#pragma once

#include <string>
#include <string_view>

#include "ir/module.h"

namespace hespas::ir {

// `context` elides what MLIR elides in arrays: the type of an i64 or f64.
enum class AttributeContext : uint8_t { kNamed, kInArray };

// How a plain `[0, 1]` or `0` that a pretty form left is meant.
enum class PlainMeaning : uint8_t { kAsWritten, kI64Array, kI32 };

class Canonical {
 public:
  static constexpr int kMaxDepth = 256;

  explicit Canonical(const Module& module) : module_(module) {}

  std::string Attribute(std::string_view text, PlainMeaning meaning = PlainMeaning::kAsWritten);
  // `{a = 1 : i64, b}` sorted by name.
  std::string Dictionary(std::string_view text);
  std::string Type(std::string_view text);
  // `a = 1 : i64`, or `a` for a unit.
  static std::string Named(std::string_view name, const std::string& value);

 private:
  void Append(std::string& out, std::string_view text, AttributeContext context);
  void AppendScalar(std::string& out, std::string_view text, AttributeContext context);
  void AppendArray(std::string& out, std::string_view text);
  void AppendDictionary(std::string& out, std::string_view text);
  void AppendDense(std::string& out, std::string_view text);
  void AppendDenseArray(std::string& out, std::string_view text);
  void AppendDialect(std::string& out, std::string_view text);
  void AppendResultAccuracy(std::string& out, std::string_view head, std::string_view body);
  void AppendStruct(std::string& out, std::string_view head, std::string_view body, std::string_view keys);

  // What `#name` represents, while the budget lasts: aliases of aliases can multiply without end.
  std::string_view Target(std::string_view alias);

  const Module& module_;
  int depth_ = 0;
  size_t expansions_left_ = 100'000;
};

// The characters between quotes, escaped as MLIR prints them: `\22` for a quote, `\0A` for a line break.
std::string EscapeString(std::string_view characters);
// The characters of a quoted text, escapes resolved.
std::string UnescapeString(std::string_view quoted);

}  // namespace hespas::ir
