// Orders of the ops of a block that hold little memory, as XLA's DefaultMemoryScheduler finds them.
//
// - A greedy list, depth first with the heaviest operands first, and plain depth first.
// - Whoever builds the graph says which results are new buffers and which are views of others.
#pragma once

#include <cstdint>
#include <vector>

#include "graph/number_lists.h"

namespace hespas::optimise {

// Ops of a block, numbered in program order, with what they need, read and make.
struct Dag {
  graph::NumberLists operands;  // producers, without repetition, in order of first use
  graph::NumberLists users;
  graph::NumberLists values;           // results and arguments that an op reads, without repetition
  graph::NumberLists value_consumers;  // of each of them
  graph::NumberLists results;          // values that an op makes
  std::vector<bool> value_returned;    // by value
  graph::NumberLists reads;            // buffers, without repetition
  graph::NumberLists consumers;        // of each buffer
  std::vector<int64_t> makes;          // bytes of new buffers, by op
  std::vector<int64_t> buffer_bytes;
  std::vector<uint32_t> first_buffer = {0};  // of those an op makes, by op, and the end
  std::vector<uint32_t> roots;               // producers of what the block returns, in order
  std::vector<bool> returned;                // by op: makes what the block returns
  std::vector<bool> scalar;                  // makes one number
  std::vector<uint32_t> uses;                // consumers of each buffer; one more where the block returns it

  size_t size() const { return makes.size(); }
};

// Makes a graph of ops that are given in program order; values go by numbers below `value_count`.
class DagBuilder {
 public:
  explicit DagBuilder(size_t value_count)
      : producer_(value_count, kNone), number_(value_count, kNone), buffer_of_(value_count, kNone) {}

  void Read(uint32_t value);
  // A result in a buffer of its own.
  void Make(uint32_t value, int64_t bytes);
  // A result that lies in the buffer of `other`.
  void MakeView(uint32_t value, uint32_t other);
  // All is said of an op.
  void EndOp(bool scalar);
  void Return(uint32_t value);
  // To be called last.
  Dag Take();

 private:
  static constexpr uint32_t kNone = 0xFFFFFFFFu;

  void Number(uint32_t value);  // of a value met for the first time
  uint32_t op() const { return static_cast<uint32_t>(dag_.first_buffer.size() - 1); }

  Dag dag_;
  int64_t makes_ = 0;                    // by the op under way
  uint32_t values_ = 0;                  // numbered so far
  std::vector<uint32_t> producer_;       // by value
  std::vector<uint32_t> number_;         // by value
  std::vector<uint32_t> last_seen_;      // by number: the op that read it last
  std::vector<uint32_t> buffer_of_;      // by value
  std::vector<uint32_t> last_user_;      // of each op: the op that read a result of it last
  std::vector<uint32_t> last_consumer_;  // of each buffer
  std::vector<uint32_t> returned_;       // values
};

// The orders, each op once, without repetition.
std::vector<std::vector<uint32_t>> MemoryOrders(const Dag& dag);

// The most bytes that buffers of the graph take at once.
int64_t PeakOf(const Dag& dag, const std::vector<uint32_t>& order);

}  // namespace hespas::optimise
