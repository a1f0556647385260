#include "optimise/schedule/memory_orders.h"

#include <algorithm>
#include <span>
#include <tuple>
#include <utility>

#include "base/units.h"
#include "optimise/schedule/list_order.h"

namespace hespas::optimise {
namespace {

// Depth first from what is returned and then from ops without users; `operands` gives the order in which each op's
// operands are visited.
std::vector<uint32_t> PostOrder(const Dag& dag, const graph::NumberLists& operands,
                                const std::vector<uint32_t>& roots) {
  std::vector<uint32_t> order;
  order.reserve(dag.size());
  std::vector<uint8_t> state(dag.size(), 0);  // 1: entered, 2: done
  std::vector<std::pair<uint32_t, size_t>> stack;
  const auto visit = [&](uint32_t root) {
    if (state[root] != 0) return;
    state[root] = 1;
    stack.emplace_back(root, 0);
    while (!stack.empty()) {
      auto& [i, next] = stack.back();
      if (next < operands[i].size()) {
        const uint32_t operand = operands[i][next++];
        if (state[operand] != 0) continue;
        state[operand] = 1;
        stack.emplace_back(operand, 0);
        continue;
      }
      state[i] = 2;
      order.push_back(i);
      stack.pop_back();
    }
  };
  for (const uint32_t root : roots) visit(root);
  for (uint32_t i = 0; i < dag.size(); ++i) {
    if (dag.users[i].empty()) visit(i);
  }
  return order;
}

// XLA's DFSMemoryScheduler: operands with more extra users, then with heavier subtrees, come first. Sums count shared
// subtrees again and again, up to the number of ops and the bytes of all.
std::vector<uint32_t> HeavyFirst(const Dag& dag) {
  std::vector<int64_t> extra(dag.size());
  std::vector<int64_t> total(dag.size());
  graph::NumberLists operands = dag.operands;
  const auto heavier = [&](uint32_t a, uint32_t b) {
    return std::tuple(extra[a], total[a]) > std::tuple(extra[b], total[b]);
  };
  const auto most = static_cast<int64_t>(dag.size());
  int64_t all = 0;
  for (uint32_t i = 0; i < dag.size(); ++i) {
    all = internal::SaturatingAdd(all, dag.makes[i]);
    extra[i] = dag.users[i].empty() ? 0 : static_cast<int64_t>(dag.users[i].size()) - 1;
    total[i] = dag.makes[i];
    for (const uint32_t operand : dag.operands[i]) {
      extra[i] = std::min(most, extra[i] + extra[operand]);
      total[i] = std::min(all, internal::SaturatingAdd(total[i], total[operand]));
    }
    const std::span<uint32_t> mine = operands[i];
    std::stable_sort(mine.begin(), mine.end(), heavier);
  }
  std::vector<uint32_t> roots = dag.roots;
  std::stable_sort(roots.begin(), roots.end(), heavier);
  return PostOrder(dag, operands, roots);
}

}  // namespace

void DagBuilder::Read(uint32_t value) {
  if (number_[value] == kNone) Number(value);  // nothing here makes it
  if (std::exchange(last_seen_[number_[value]], op()) != op()) dag_.values.Add(number_[value]);
  const uint32_t producer = producer_[value];
  if (producer == kNone) return;
  if (std::exchange(last_user_[producer], op()) != op()) dag_.operands.Add(producer);
  const uint32_t buffer = buffer_of_[value];
  if (buffer != kNone && std::exchange(last_consumer_[buffer], op()) != op()) dag_.reads.Add(buffer);
}

void DagBuilder::Number(uint32_t value) {
  number_[value] = values_++;
  last_seen_.push_back(kNone);
}

void DagBuilder::Make(uint32_t value, int64_t bytes) {
  Number(value);
  dag_.results.Add(number_[value]);
  producer_[value] = op();
  buffer_of_[value] = static_cast<uint32_t>(dag_.buffer_bytes.size());
  dag_.buffer_bytes.push_back(bytes);
  last_consumer_.push_back(kNone);
  makes_ = internal::SaturatingAdd(makes_, bytes);
}

void DagBuilder::MakeView(uint32_t value, uint32_t other) {
  Number(value);
  dag_.results.Add(number_[value]);
  producer_[value] = op();
  buffer_of_[value] = buffer_of_[other];
}

void DagBuilder::EndOp(bool scalar) {
  dag_.operands.End();
  dag_.values.End();
  dag_.reads.End();
  dag_.results.End();
  dag_.scalar.push_back(scalar);
  dag_.makes.push_back(std::exchange(makes_, 0));
  last_user_.push_back(kNone);
  dag_.first_buffer.push_back(static_cast<uint32_t>(dag_.buffer_bytes.size()));
}

void DagBuilder::Return(uint32_t value) { returned_.push_back(value); }

Dag DagBuilder::Take() {
  dag_.users = dag_.operands.Inverted(dag_.size());
  dag_.value_consumers = dag_.values.Inverted(values_);
  dag_.consumers = dag_.reads.Inverted(dag_.buffer_bytes.size());
  for (size_t buffer = 0; buffer < dag_.buffer_bytes.size(); ++buffer) {
    dag_.uses.push_back(static_cast<uint32_t>(dag_.consumers[buffer].size()));
  }
  dag_.returned.resize(dag_.size());
  dag_.value_returned.resize(values_);
  for (const uint32_t value : returned_) {
    if (const uint32_t buffer = buffer_of_[value]; buffer != kNone) ++dag_.uses[buffer];
    const uint32_t producer = producer_[value];
    if (producer == kNone) continue;
    dag_.roots.push_back(producer);
    dag_.returned[producer] = true;
    dag_.value_returned[number_[value]] = true;
  }
  return std::move(dag_);
}

std::vector<std::vector<uint32_t>> MemoryOrders(const Dag& dag) {
  std::vector<std::vector<uint32_t>> orders;
  const auto add = [&](std::vector<uint32_t> order) {
    if (std::find(orders.begin(), orders.end(), order) == orders.end()) orders.push_back(std::move(order));
  };
  add(ListOrder(dag));
  add(HeavyFirst(dag));
  add(PostOrder(dag, dag.operands, dag.roots));
  return orders;
}

int64_t PeakOf(const Dag& dag, const std::vector<uint32_t>& order) {
  std::vector<uint32_t> uses = dag.uses;
  int64_t held = 0;
  int64_t peak = 0;
  for (const uint32_t op : order) {
    held = internal::SaturatingAdd(held, dag.makes[op]);
    peak = std::max(peak, held);
    for (uint32_t buffer = dag.first_buffer[op]; buffer < dag.first_buffer[op + 1]; ++buffer) {
      if (uses[buffer] == 0) held -= dag.buffer_bytes[buffer];
    }
    for (const uint32_t buffer : dag.reads[op]) {
      if (--uses[buffer] == 0) held -= dag.buffer_bytes[buffer];
    }
  }
  return peak;
}

}  // namespace hespas::optimise
