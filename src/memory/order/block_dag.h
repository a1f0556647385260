// The ops of a block as a graph of what they make and read, for XLA's memory schedulers.
//
// - An asynchronous start and its done count as one op, with what the done hands out.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "ir/module.h"
#include "memory/liveness.h"
#include "optimise/schedule/memory_orders.h"

namespace hespas::memory {

class BlockDag {
 public:
  BlockDag(const ir::Module& module, ir::BlockId block, const BufferSizes& sizes);

  const optimise::Dag& dag() const { return dag_; }
  std::vector<ir::OpId> OpsIn(const std::vector<uint32_t>& order) const;
  // The reverse; each done follows its start.
  std::vector<uint32_t> NumbersOf(std::span<const ir::OpId> order) const;

 private:
  void Add(const ir::Module& module, ir::OpId op, const BufferSizes& sizes, optimise::DagBuilder& builder);

  std::vector<ir::OpId> ops_;                      // by number
  std::unordered_map<uint32_t, ir::OpId> done_;    // by start
  std::unordered_map<uint32_t, uint32_t> number_;  // by op
  optimise::Dag dag_;
};

// Ops of a block but its terminator.
std::span<const ir::OpId> OpsOf(const ir::Module& module, ir::BlockId block);

// Says what an op's results are: new buffers, or views of others.
void MakeResults(const ir::Module& module, ir::OpId op, const BufferSizes& sizes, optimise::DagBuilder& builder);

}  // namespace hespas::memory
