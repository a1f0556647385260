#include "optimise/schedule/memory_orders.h"

#include <algorithm>
#include <limits>
#include <map>
#include <span>
#include <tuple>
#include <utility>

#include "base/units.h"

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

// XLA's ListScheduler: of what is ready, the op that frees most and makes least; single numbers at once.
class ListOrder {
 public:
  explicit ListOrder(const Dag& dag) : dag_(dag), uses_(dag.uses), place_(dag.size(), ready_.end()) {}

  std::vector<uint32_t> Run() {
    for (uint32_t i = 0; i < dag_.size(); ++i) {
      waiting_.push_back(static_cast<uint32_t>(dag_.operands[i].size()));
      if (waiting_[i] == 0) place_[i] = ready_.emplace(PriorityOf(i), i);
    }
    while (!ready_.empty()) {
      const auto best = std::prev(ready_.end());
      const uint32_t i = best->second;
      ready_.erase(best);
      place_[i] = ready_.end();
      order_.push_back(i);
      Schedule(i);
    }
    return std::move(order_);
  }

 private:
  using Priority = std::pair<int64_t, int64_t>;  // bytes, users
  using Ready = std::multimap<Priority, uint32_t>;

  Priority PriorityOf(uint32_t i) const {
    constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
    if (dag_.scalar[i]) return {kMost, kMost};
    int64_t freed = 0;
    for (const uint32_t buffer : dag_.reads[i]) {
      if (uses_[buffer] == 1) freed = internal::SaturatingAdd(freed, dag_.buffer_bytes[buffer]);
    }
    return {internal::SaturatingSubtract(freed, dag_.makes[i]), static_cast<int64_t>(dag_.users[i].size())};
  }

  void Schedule(uint32_t i) {
    for (const uint32_t user : dag_.users[i]) {
      if (--waiting_[user] == 0) place_[user] = ready_.emplace(PriorityOf(user), user);
    }
    for (const uint32_t buffer : dag_.reads[i]) {
      if (--uses_[buffer] != 1) continue;
      for (const uint32_t consumer : dag_.consumers[buffer]) Renew(consumer);
    }
  }

  // The last consumer of a buffer frees it.
  void Renew(uint32_t i) {
    if (place_[i] == ready_.end()) return;
    const Priority priority = PriorityOf(i);
    if (place_[i]->first == priority) return;
    ready_.erase(place_[i]);
    place_[i] = ready_.emplace(priority, i);
  }

  const Dag& dag_;
  std::vector<uint32_t> uses_;  // of each buffer, not scheduled yet
  std::vector<uint32_t> waiting_;
  Ready ready_;
  std::vector<Ready::iterator> place_;
  std::vector<uint32_t> order_;
};

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
  producer_[value] = op();
  buffer_of_[value] = static_cast<uint32_t>(dag_.buffer_bytes.size());
  dag_.buffer_bytes.push_back(bytes);
  last_consumer_.push_back(kNone);
  makes_ = internal::SaturatingAdd(makes_, bytes);
}

void DagBuilder::MakeView(uint32_t value, uint32_t other) {
  Number(value);
  producer_[value] = op();
  buffer_of_[value] = buffer_of_[other];
}

void DagBuilder::EndOp(bool scalar) {
  dag_.operands.End();
  dag_.values.End();
  dag_.reads.End();
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
  for (const uint32_t value : returned_) {
    if (const uint32_t buffer = buffer_of_[value]; buffer != kNone) ++dag_.uses[buffer];
    if (const uint32_t producer = producer_[value]; producer != kNone) dag_.roots.push_back(producer);
  }
  return std::move(dag_);
}

std::vector<std::vector<uint32_t>> MemoryOrders(const Dag& dag) {
  std::vector<std::vector<uint32_t>> orders;
  const auto add = [&](std::vector<uint32_t> order) {
    if (std::find(orders.begin(), orders.end(), order) == orders.end()) orders.push_back(std::move(order));
  };
  add(ListOrder(dag).Run());
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
