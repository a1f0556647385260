// `#name = attribute` and `!name = type` definitions of a file.
//
// All definitions at the start of a line are found in one pass before reading, so that an alias may be used before its
// definition (`#loc` aliases are at the end). Bodies are read once, on first use; chains are followed without
// recursion.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>

#include "ir/ids.h"
#include "read/stablehlo/cursor.h"

namespace hespas::read {

struct Alias {
  size_t offset = 0;      // of the name
  size_t body = 0;        // offset of what follows `=`
  std::string_view text;  // of an attribute, once read
  ir::TypeId type;        // of a type, once read
  bool busy = false;      // being read: meeting it again is a cycle
  bool seen = false;      // the reader has passed its definition
};

class AliasTable {
 public:
  // Finds the definitions of the whole text; returns how many lines it has.
  size_t Collect(std::string_view text);

  // `name` with its `#` or `!`.
  Alias* Find(std::string_view name) {
    const auto found = aliases_.find(name);
    return found == aliases_.end() ? nullptr : &found->second;
  }
  Alias& Add(std::string_view name, size_t offset, size_t body) {
    return aliases_.try_emplace(name, Alias{.offset = offset, .body = body}).first->second;
  }
  const std::unordered_map<std::string_view, Alias>& all() const { return aliases_; }

 private:
  std::unordered_map<std::string_view, Alias> aliases_;
};

// The alias name at the cursor (`#map`, `!tt`): one without a dot and without `<` after it; empty for anything else.
std::string_view AliasName(const char* p);

}  // namespace hespas::read
