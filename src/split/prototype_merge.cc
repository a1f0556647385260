#include "split/prototype_merge.h"

#include <algorithm>
#include <numeric>

namespace hespas::split {
namespace {

constexpr uint32_t kEnd = 0xFFFFFFFFu;

class Merger {
 public:
  explicit Merger(std::vector<PrototypeBlock> blocks)
      : blocks_(std::move(blocks)), nodes_(blocks_.size()), next_(blocks_.size(), kEnd) {
    for (uint32_t i = 0; i < blocks_.size(); ++i) {
      nodes_[i].successors = std::move(blocks_[i].successors);
      nodes_[i].predecessors = std::move(blocks_[i].predecessors);
      nodes_[i].head = nodes_[i].tail = i;
    }
  }

  std::vector<PrototypeBlock> Run() {
    std::vector<uint32_t> todo(blocks_.size());
    std::iota(todo.begin(), todo.end(), 0u);
    bool merged = true;
    while (merged) {
      merged = false;
      for (const uint32_t i : todo) merged |= nodes_[i].alive && MergeOne(i);
      AdoptIsolated(todo);
      std::erase_if(todo, [&](uint32_t i) { return !nodes_[i].alive; });
    }
    return Compact();
  }

 private:
  struct Node {
    std::vector<uint32_t> successors;  // with removed nodes in between, skipped when read
    std::vector<uint32_t> predecessors;
    uint32_t head = 0;  // chain of original blocks whose ops, in order, are this block's
    uint32_t tail = 0;
    bool alive = true;
  };

  std::vector<uint32_t>& Live(std::vector<uint32_t>& list) {
    std::erase_if(list, [&](uint32_t i) { return !nodes_[i].alive; });
    return list;
  }
  std::vector<uint32_t>& Successors(uint32_t i) { return Live(nodes_[i].successors); }
  std::vector<uint32_t>& Predecessors(uint32_t i) { return Live(nodes_[i].predecessors); }
  bool SameKind(uint32_t a, uint32_t b) const { return blocks_[a].kind == blocks_[b].kind; }

  bool MergeOne(uint32_t i) {
    const std::vector<uint32_t>& before = Predecessors(i);
    if (before.size() == 1 && SameKind(before[0], i)) {
      const uint32_t p = before[0];
      Chain(p, i, p);
      for (const uint32_t c : Successors(i)) AddEdge(p, c);
      Remove(i);
      return true;
    }
    const std::vector<uint32_t>& after = Successors(i);
    if (after.size() == 1 && SameKind(after[0], i)) {
      const uint32_t c = after[0];
      Chain(i, c, c);
      for (const uint32_t p : before) AddEdge(p, c);
      Remove(i);
      return true;
    }
    return false;
  }

  // The ops of `first`, then those of `second`, become the ops of `owner`. Repeated constants are dropped at the end:
  // keeping the first of each is the same whether done at every step or once.
  void Chain(uint32_t first, uint32_t second, uint32_t owner) {
    next_[nodes_[first].tail] = nodes_[second].head;
    const uint32_t head = nodes_[first].head;
    const uint32_t tail = nodes_[second].tail;
    nodes_[owner].head = head;
    nodes_[owner].tail = tail;
  }

  void AddEdge(uint32_t from, uint32_t to) {
    std::vector<uint32_t>& out = nodes_[from].successors;
    std::vector<uint32_t>& in = nodes_[to].predecessors;
    const bool found = out.size() < in.size() ? std::find(out.begin(), out.end(), to) != out.end()
                                              : std::find(in.begin(), in.end(), from) != in.end();
    if (found) return;
    out.push_back(to);
    in.push_back(from);
  }

  void Remove(uint32_t i) { nodes_[i].alive = false; }

  // Blocks without any edge join the first block of their kind without successors, else without predecessors.
  void AdoptIsolated(const std::vector<uint32_t>& order) {
    std::vector<uint32_t> childless;
    std::vector<uint32_t> parentless;
    std::vector<uint32_t> isolated;
    for (const uint32_t i : order) {
      if (!nodes_[i].alive) continue;
      const bool no_child = Successors(i).empty();
      const bool no_parent = Predecessors(i).empty();
      if (no_child && no_parent) {
        isolated.push_back(i);
      } else if (no_child) {
        childless.push_back(i);
      } else if (no_parent) {
        parentless.push_back(i);
      }
    }
    childless.insert(childless.end(), parentless.begin(), parentless.end());
    for (const uint32_t i : isolated) {
      const auto home = std::find_if(childless.begin(), childless.end(), [&](uint32_t c) { return SameKind(c, i); });
      if (home == childless.end()) continue;
      Chain(*home, i, *home);
      Remove(i);
    }
  }

  std::vector<ir::OpId> Ops(uint32_t owner) {
    const Node& node = nodes_[owner];
    if (node.head == node.tail) return std::move(blocks_[node.head].ops);
    std::vector<ir::OpId> ops;
    for (uint32_t part = node.head; part != kEnd; part = part == node.tail ? kEnd : next_[part]) {
      for (const ir::OpId op : blocks_[part].ops) {
        if (op.index() >= stamp_.size()) stamp_.resize(op.index() + 1, kEnd);
        if (stamp_[op.index()] != owner) ops.push_back(op);
        stamp_[op.index()] = owner;
      }
    }
    return ops;
  }

  // Renumbers what is left. A renumbered node is taken out and added again, so that it moves to the end of the lists
  // that name it and loses its colour.
  std::vector<PrototypeBlock> Compact() {
    std::vector<uint32_t> new_id(nodes_.size(), kEnd);
    uint32_t count = 0;
    for (uint32_t i = 0; i < nodes_.size(); ++i) {
      if (nodes_[i].alive) new_id[i] = count++;
    }
    const auto renumber = [&](std::vector<uint32_t> list) {
      Live(list);
      const auto moved = std::stable_partition(list.begin(), list.end(), [&](uint32_t i) { return new_id[i] == i; });
      std::sort(moved, list.end());
      for (uint32_t& i : list) i = new_id[i];
      return list;
    };
    std::vector<PrototypeBlock> out;
    out.reserve(count);
    for (uint32_t i = 0; i < nodes_.size(); ++i) {
      if (!nodes_[i].alive) continue;
      out.push_back({.kind = blocks_[i].kind,
                     .ops = Ops(i),
                     .predecessors = renumber(nodes_[i].predecessors),
                     .successors = renumber(nodes_[i].successors),
                     .coloured = new_id[i] == i});
    }
    return out;
  }

  std::vector<PrototypeBlock> blocks_;
  std::vector<Node> nodes_;
  std::vector<uint32_t> next_;
  std::vector<uint32_t> stamp_;  // by op: the last block that took it
};

}  // namespace

std::vector<PrototypeBlock> MergeAsPrototype(std::vector<PrototypeBlock> blocks) {
  return Merger(std::move(blocks)).Run();
}

}  // namespace hespas::split
