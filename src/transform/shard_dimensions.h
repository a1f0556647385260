// Which dimensions of which values are cut into one part for each device of the data axis (data parallel or FSDP).
//
// - A dimension is a shard where an all-gather over that axis gathers it, a reduce-scatter over it scatters it, or a
//   dynamic slice or update at an offset that depends on the device cuts 1/d of it.
// - Dimensions that an op passes on as they are (elementwise, transpose, matmuls, loops, calls, ...) are shards
// together.
#pragma once

#include <functional>
#include <vector>

#include "ir/module.h"

namespace hespas::transform {

class ShardDimensions {
 public:
  // `over_data`: whether a collective runs over the data axis; `devices`: of that axis.
  ShardDimensions(const ir::Module& module, const std::function<bool(ir::OpId)>& over_data, int64_t devices);

  bool Is(ir::ValueId value, size_t dimension) const;
  // Constants of one offset for each device.
  const std::vector<ir::OpId>& offset_tables() const { return tables_; }

 private:
  size_t Node(ir::ValueId value, size_t dimension) const { return first_[value.index()] + dimension; }
  size_t Rank(ir::ValueId value) const { return first_[value.index() + 1] - first_[value.index()]; }
  int64_t Size(ir::ValueId value, size_t dimension) const { return module_.type(value).dims[dimension]; }
  size_t Find(size_t node) const;
  void Join(ir::ValueId a, size_t da, ir::ValueId b, size_t db);
  void JoinAll(ir::ValueId a, ir::ValueId b, int64_t but = -1);
  void JoinEqual(ir::ValueId a, ir::ValueId b);
  void JoinLists(const std::vector<ir::ValueId>& a, const std::vector<ir::ValueId>& b);
  std::vector<ir::ValueId> Returned(ir::BlockId block) const;

  void Link(ir::OpId op);
  void LinkPairs(ir::OpId op, int64_t but = -1);
  void LinkElementwise(ir::OpId op);
  void LinkDot(ir::OpId op);
  void LinkReduce(ir::OpId op);
  void LinkReshape(ir::ValueId from, ir::ValueId to);
  void LinkBodies(ir::OpId op);
  void LinkCall(ir::OpId op);

  void FollowDevice(ir::OpId op);
  void Seed(ir::OpId op);
  void SeedSlice(ir::OpId op, ir::ValueId part, ir::ValueId whole, size_t first_index);
  void Mark(ir::ValueId value, size_t dimension);

  const ir::Module& module_;
  const std::function<bool(ir::OpId)>& over_data_;
  int64_t devices_;
  std::vector<size_t> first_;           // node of a value's first dimension
  mutable std::vector<size_t> parent_;  // union-find
  std::vector<bool> shard_;             // by root, once all is linked
  std::vector<bool> of_device_;         // by value: depends on which device runs it
  std::vector<ir::OpId> tables_;
};

}  // namespace hespas::transform
