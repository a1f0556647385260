// Parameters and the elements of an op's tuple of results are ops of their own to XLA:
//
// - An element reads all buffers of its tuple, so that none of these is freed before all elements are taken.
// - What an op frees is looked at when it becomes ready, and again only when an op that shares an operand with it is
//   scheduled. Until then it keeps its place, although less may be needed meanwhile.
#include "optimise/schedule/list_order.h"

#include <limits>
#include <map>
#include <utility>

#include "base/units.h"

namespace hespas::optimise {
namespace {

using graph::NumberLists;

// The graph with parameters and elements. Ops keep their numbers; elements follow, then parameters.
class Expanded {
 public:
  explicit Expanded(const Dag& dag) : dag_(dag), producer_(dag.value_consumers.size(), kNone) {
    for (uint32_t i = 0; i < dag.size(); ++i) {
      for (const uint32_t value : dag.results[i]) producer_[value] = i;
    }
    number_ = static_cast<uint32_t>(dag.size());
    for (uint32_t i = 0; i < dag.size(); ++i) {
      if (dag.results[i].size() < 2) continue;
      for (const uint32_t value : dag.results[i]) {
        if (!dag.value_consumers[value].empty() || dag.value_returned[value]) AddElement(value, i);
      }
    }
    for (uint32_t value = 0; value < producer_.size(); ++value) {
      if (producer_[value] == kNone) producer_[value] = AddNode(value);
    }
  }

  uint32_t size() const { return number_; }
  bool IsOp(uint32_t node) const { return node < dag_.size(); }
  bool IsElement(uint32_t node) const { return !IsOp(node) && tuple_[node - dag_.size()] != kNone; }
  // The node that hands a value to its consumers.
  uint32_t ProducerOf(uint32_t value) const { return producer_[value]; }
  uint32_t TupleOf(uint32_t element) const { return tuple_[element - dag_.size()]; }
  uint32_t ValueOf(uint32_t node) const { return value_[node - dag_.size()]; }

  // Calls visit(user) for each user, once.
  template <typename Visit>
  void Users(uint32_t node, Visit visit) const {
    if (!IsOp(node)) {
      for (const uint32_t user : dag_.value_consumers[ValueOf(node)]) visit(user);
    } else if (dag_.results[node].size() < 2) {
      for (const uint32_t user : dag_.users[node]) visit(user);
    } else {
      for (const uint32_t value : dag_.results[node]) {
        if (producer_[value] != node) visit(producer_[value]);
      }
    }
  }

  int64_t UserCount(uint32_t node) const {
    int64_t count = 0;
    Users(node, [&](uint32_t) { ++count; });
    const bool returned =
        IsOp(node) ? dag_.results[node].size() < 2 && dag_.returned[node] : dag_.value_returned[ValueOf(node)];
    return count + (returned ? 1 : 0);  // what the program returns is one op
  }

 private:
  static constexpr uint32_t kNone = 0xFFFFFFFFu;

  uint32_t AddNode(uint32_t value) {
    value_.push_back(value);
    tuple_.push_back(kNone);
    return number_++;
  }
  void AddElement(uint32_t value, uint32_t op) {
    producer_[value] = AddNode(value);
    tuple_.back() = op;
  }

  const Dag& dag_;
  uint32_t number_ = 0;
  std::vector<uint32_t> producer_;  // by value
  std::vector<uint32_t> value_;     // by node behind the ops
  std::vector<uint32_t> tuple_;     // by node behind the ops: the op whose element it is
};

class Lister {
 public:
  explicit Lister(const Dag& dag) : dag_(dag), graph_(dag), uses_(dag.uses), place_(graph_.size(), ready_.end()) {
    waiting_.resize(graph_.size(), 0);
    stale_.resize(graph_.size());
    for (uint32_t node = 0; node < graph_.size(); ++node) {
      graph_.Users(node, [&](uint32_t user) { ++waiting_[user]; });
      if (!graph_.IsElement(node)) continue;
      ForEachRead(node, [&](uint32_t buffer) { ++uses_[buffer]; });
    }
  }

  std::vector<uint32_t> Run() {
    for (uint32_t node = 0; node < graph_.size(); ++node) {
      if (waiting_[node] == 0) Enter(node);
    }
    while (!ready_.empty()) {
      const auto best = std::prev(ready_.end());
      const uint32_t node = best->second;
      ready_.erase(best);
      place_[node] = ready_.end();
      if (graph_.IsOp(node)) order_.push_back(node);
      Schedule(node);
    }
    return std::move(order_);
  }

 private:
  using Priority = std::pair<int64_t, int64_t>;  // bytes, users
  using Ready = std::multimap<Priority, uint32_t>;

  template <typename Visit>
  void ForEachRead(uint32_t node, Visit visit) const {
    if (graph_.IsOp(node)) {
      for (const uint32_t buffer : dag_.reads[node]) visit(buffer);
    } else if (graph_.IsElement(node)) {
      const uint32_t op = graph_.TupleOf(node);
      for (uint32_t buffer = dag_.first_buffer[op]; buffer < dag_.first_buffer[op + 1]; ++buffer) visit(buffer);
    }
  }

  Priority PriorityOf(uint32_t node) const {
    constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
    if (graph_.IsOp(node) && dag_.scalar[node]) return {kMost, kMost};
    int64_t freed = 0;
    ForEachRead(node, [&](uint32_t buffer) {
      if (uses_[buffer] == 1) freed = internal::SaturatingAdd(freed, dag_.buffer_bytes[buffer]);
    });
    return {internal::SaturatingSubtract(freed, graph_.IsOp(node) ? dag_.makes[node] : 0), graph_.UserCount(node)};
  }

  void Enter(uint32_t node) { place_[node] = ready_.emplace(PriorityOf(node), node); }

  void Schedule(uint32_t node) {
    bool fewer = false;
    ForEachRead(node, [&](uint32_t buffer) {
      if (--uses_[buffer] != 1) return;
      fewer = true;
      for (const uint32_t consumer : dag_.consumers[buffer]) {
        if (place_[consumer] != ready_.end()) NoteStale(consumer);
      }
    });
    graph_.Users(node, [&](uint32_t user) {
      if (--waiting_[user] == 0) Enter(user);
    });
    if (fewer && graph_.IsOp(node)) {
      for (const uint32_t value : dag_.values[node]) RenewUsersOf(graph_.ProducerOf(value));
    }
  }

  // It frees more than when it became ready.
  void NoteStale(uint32_t op) {
    for (const uint32_t value : dag_.values[op]) stale_[graph_.ProducerOf(value)].push_back(op);
  }

  void RenewUsersOf(uint32_t operand) {
    for (const uint32_t op : std::exchange(stale_[operand], {})) {
      if (place_[op] == ready_.end()) continue;
      const Priority priority = PriorityOf(op);
      if (place_[op]->first == priority) continue;
      ready_.erase(place_[op]);
      place_[op] = ready_.emplace(priority, op);
    }
  }

  const Dag& dag_;
  Expanded graph_;
  std::vector<uint32_t> uses_;  // of each buffer, not scheduled yet
  std::vector<uint32_t> waiting_;
  Ready ready_;
  std::vector<Ready::iterator> place_;
  std::vector<std::vector<uint32_t>> stale_;  // by operand: users whose place is out of date
  std::vector<uint32_t> order_;
};

}  // namespace

std::vector<uint32_t> ListOrder(const Dag& dag) { return Lister(dag).Run(); }

}  // namespace hespas::optimise
