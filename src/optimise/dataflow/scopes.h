// The framework's names of a source module's operations, interned as names of that module: equal ones are held once.
#pragma once

#include <map>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "ir/module.h"

namespace hespas::optimise {

class Scopes {
 public:
  explicit Scopes(ir::Module& source);

  // Whether an attribute of that name holds the name of its op.
  bool Holds(ir::NameId attribute) const { return attribute == location_ || attribute == metadata_; }
  // The op's name within that of the call it was expanded from (invalid outside of calls); invalid where neither is
  // known.
  ir::NameId Of(ir::OpId op, ir::NameId caller);

 private:
  ir::NameId Own(ir::OpId op);

  ir::Module& source_;
  ir::NameId location_;
  ir::NameId metadata_;
  std::unordered_map<std::string_view, ir::NameId> by_text_;  // of name attributes
  std::map<std::pair<uint32_t, uint32_t>, ir::NameId> in_caller_;
};

}  // namespace hespas::optimise
