// What `%name` means at a point of the text: definitions with their scopes, and uses before their definition.
//
// - Regions see outer names; an isolated region (a function's body) starts with none.
// - Leaving a region forgets its names in time proportional to their number.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "ir/ids.h"
#include "read/stablehlo/cursor.h"
#include "read/stablehlo/text_map.h"

namespace hespas::read {

class ValueNames {
 public:
  // A name met in the text; equal names have equal references.
  using Ref = uint32_t;

  struct Definition {
    ir::ValueId first;   // invalid where the defining op was in error
    uint32_t count = 0;  // values behind the name: %x:3
    uint32_t scope = 0;  // isolated scope it belongs to; 0: undefined
  };

  struct Mark {
    size_t undo = 0;
    uint32_t scope = 0;
  };

  // Numbers below `number_limit` index an array, other names are hashed.
  explicit ValueNames(size_t number_limit) : number_limit_(number_limit) {}

  // The name at the cursor, behind `%`; none where `name` comes back empty.
  Ref Read(Cursor& c, std::string_view& name) {
    const char* const start = c.at();
    const char* p = start;
    uint32_t number = 0;
    while (IsDigit(*p) && p - start < 8) number = number * 10 + static_cast<uint32_t>(*p++ - '0');
    const bool plain = p != start && (*start != '0' || p == start + 1) && !IsIdent(*p) && *p != '-';
    if (!plain || number >= number_limit_) return ReadText(c, name);
    c.MoveTo(p);
    name = c.From(start);
    if (number >= numbers_.size()) GrowNumbers(number);
    return number;
  }

  const Definition* Find(Ref ref) const {
    const Definition& d = At(ref);
    return d.scope == scope_ ? &d : nullptr;
  }
  // False where the name is visible already.
  bool Define(Ref ref, ir::ValueId first, uint32_t count) {
    Definition& d = At(ref);
    if (d.scope == scope_) return false;
    undo_.push_back({ref, d});
    d = {first, count, scope_};
    return true;
  }

  Mark Enter(bool isolated) {
    const Mark mark{undo_.size(), scope_};
    if (isolated) scope_ = ++scope_count_;
    return mark;
  }
  void Leave(const Mark& mark) {
    while (undo_.size() > mark.undo) {
      At(undo_.back().ref) = undo_.back().before;
      undo_.pop_back();
    }
    scope_ = mark.scope;
  }
  uint32_t scope() const { return scope_; }

 private:
  static constexpr uint32_t kText = 0x80000000u;

  struct Undo {
    Ref ref;
    Definition before;
  };

  Ref ReadText(Cursor& c, std::string_view& name);
  Ref Intern(std::string_view name);
  void GrowNumbers(uint32_t number);
  Definition& At(Ref ref) { return ref & kText ? texts_[ref ^ kText] : numbers_[ref]; }
  const Definition& At(Ref ref) const { return ref & kText ? texts_[ref ^ kText] : numbers_[ref]; }

  size_t number_limit_;
  std::vector<Definition> numbers_;  // %0, %1, ...
  std::vector<Definition> texts_;    // all other names, by order of appearance
  TextMap<uint32_t> index_;
  std::vector<Undo> undo_;
  uint32_t scope_ = 1;
  uint32_t scope_count_ = 1;
};

}  // namespace hespas::read
