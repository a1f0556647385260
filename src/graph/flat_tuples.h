// Tuples at a program's borders, member by member: compilers take none as argument or result.
#pragma once

#include <span>
#include <vector>

#include "ir/module.h"

namespace hespas::graph {

// What represents values of these types: of a tuple its members, nested tuples in their places.
std::vector<ir::TypeId> FlatTypes(const ir::TypeTable& types, std::span<const ir::TypeId> tuples);

// A value of `type` from the block's arguments from `next` on; tuples are put together by ops appended to the block.
ir::ValueId JoinFlat(ir::Module& module, ir::BlockId block, ir::TypeId type, size_t& next);

// What represents `values`, taken out of tuples by ops appended to the block.
std::vector<ir::ValueId> TakeFlat(ir::Module& module, ir::BlockId block, std::span<const ir::ValueId> values);

}  // namespace hespas::graph
