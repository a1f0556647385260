#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "base/disjoint_sets.h"
#include "split/strategies.h"

namespace hespas::split {
namespace {

using graph::BlockId;
using graph::BlockKind;

// Names sets of communication blocks. Equal names mean equal sets, and along a path names only grow.
class SetNames {
 public:
  virtual ~SetNames() = default;
  // The union of `sets` (sorted, distinct names); 0 is the empty set.
  virtual uint32_t Union(std::vector<uint32_t> sets) = 0;
  // `set` and one communication block more.
  virtual uint32_t With(uint32_t set, uint32_t communication) = 0;
};

// Sets as bits: equal sets have equal names.
class ExactNames : public SetNames {
 public:
  explicit ExactNames(size_t communications) : words_(communications / 64 + 1) {
    Name(std::vector<uint64_t>(words_, 0));
  }

  uint32_t Union(std::vector<uint32_t> sets) override {
    if (sets.empty()) return 0;
    if (sets.size() == 1) return sets[0];
    std::vector<uint64_t> bits = *bits_[sets[0]];
    for (const uint32_t set : sets) {
      for (size_t w = 0; w < words_; ++w) bits[w] |= (*bits_[set])[w];
    }
    return Name(std::move(bits));
  }
  uint32_t With(uint32_t set, uint32_t communication) override {
    std::vector<uint64_t> bits = *bits_[set];
    bits[communication / 64] |= uint64_t{1} << (communication % 64);
    return Name(std::move(bits));
  }

 private:
  uint32_t Name(std::vector<uint64_t> bits) {
    const auto [found, is_new] = names_.try_emplace(std::move(bits), static_cast<uint32_t>(bits_.size()));
    if (is_new) bits_.push_back(&found->first);
    return found->second;
  }

  size_t words_;
  std::map<std::vector<uint64_t>, uint32_t> names_;
  std::vector<const std::vector<uint64_t>*> bits_;
};

// For programs with too many collectives for that: a set that is a direct part of another adds nothing, every other
// union is a new name. Sets that are equal may get several names, which only costs merges.
class PartNames : public SetNames {
 public:
  uint32_t Union(std::vector<uint32_t> sets) override {
    DropDominated(sets);
    if (sets.empty()) return 0;
    if (sets.size() == 1) return sets[0];
    const auto [found, is_new] = names_.try_emplace(sets, 0);
    if (is_new) found->second = Add(sets);
    return found->second;
  }
  uint32_t With(uint32_t set, uint32_t) override { return Add({set}); }

 private:
  uint32_t Add(std::vector<uint32_t> parts) {
    parts_.push_back(std::move(parts));
    return static_cast<uint32_t>(parts_.size() - 1);
  }

  void DropDominated(std::vector<uint32_t>& sets) const {
    constexpr size_t kManyParts = 64;
    std::erase(sets, 0u);
    std::vector<uint32_t> dominated;
    for (const uint32_t set : sets) {
      const std::vector<uint32_t>& parts = parts_[set];
      if (parts.size() <= kManyParts) dominated.insert(dominated.end(), parts.begin(), parts.end());
    }
    std::sort(dominated.begin(), dominated.end());
    std::erase_if(sets, [&](uint32_t set) { return std::binary_search(dominated.begin(), dominated.end(), set); });
  }

  std::vector<std::vector<uint32_t>> parts_ = {{}};  // by name
  std::map<std::vector<uint32_t>, uint32_t> names_;
};

std::unique_ptr<SetNames> MakeNames(const std::vector<graph::Block>& blocks) {
  constexpr size_t kMostWords = size_t{1} << 23;  // 64 MB of bits
  const auto communications = static_cast<size_t>(std::count_if(
      blocks.begin(), blocks.end(), [](const graph::Block& block) { return block.kind == BlockKind::kCommunication; }));
  if (blocks.size() * (communications / 64 + 1) > kMostWords) return std::make_unique<PartNames>();
  return std::make_unique<ExactNames>(communications);
}

void SortUnique(std::vector<uint32_t>& v) {
  std::sort(v.begin(), v.end());
  v.erase(std::unique(v.begin(), v.end()), v.end());
}

// The communication before each block; a communication block's own set holds itself, as its successors see it.
std::vector<uint32_t> SetsBefore(const std::vector<graph::Block>& blocks) {
  const auto names = MakeNames(blocks);
  uint32_t communications = 0;
  std::vector<uint32_t> seen(blocks.size());    // by successors
  std::vector<uint32_t> before(blocks.size());  // by the block itself
  std::vector<uint32_t> sets;
  for (size_t i = 0; i < blocks.size(); ++i) {
    sets.clear();
    for (const BlockId p : blocks[i].predecessors) sets.push_back(seen[p.index()]);
    SortUnique(sets);
    before[i] = names->Union(sets);
    const bool communication = blocks[i].kind == BlockKind::kCommunication;
    seen[i] = communication ? names->With(before[i], communications++) : before[i];
  }
  return before;
}

std::vector<uint32_t> SetsBehind(const std::vector<graph::Block>& blocks) {
  const auto names = MakeNames(blocks);
  uint32_t communications = 0;
  std::vector<std::vector<uint32_t>> sets(blocks.size());  // as seen by the block, from its successors
  std::vector<uint32_t> behind(blocks.size());
  for (size_t i = blocks.size(); i-- > 0;) {
    SortUnique(sets[i]);
    behind[i] = names->Union(std::move(sets[i]));
    const bool communication = blocks[i].kind == BlockKind::kCommunication;
    const uint32_t seen = communication ? names->With(behind[i], communications++) : behind[i];
    for (const BlockId p : blocks[i].predecessors) sets[p.index()].push_back(seen);
  }
  return behind;
}

// Blocks of joined groups in an order in which predecessors come first (Kahn, smallest first member first).
std::vector<uint32_t> OrderOfGroups(const std::vector<std::vector<uint32_t>>& predecessors) {
  const size_t count = predecessors.size();
  std::vector<uint32_t> waiting(count);
  std::vector<std::vector<uint32_t>> successors(count);
  for (uint32_t g = 0; g < count; ++g) {
    waiting[g] = static_cast<uint32_t>(predecessors[g].size());
    for (const uint32_t p : predecessors[g]) successors[p].push_back(g);
  }
  std::vector<uint32_t> heap;
  std::vector<uint32_t> order;
  const auto push = [&](uint32_t g) {
    heap.push_back(g);
    std::push_heap(heap.begin(), heap.end(), std::greater<>());
  };
  for (uint32_t g = 0; g < count; ++g) {
    if (waiting[g] == 0) push(g);
  }
  while (!heap.empty()) {
    std::pop_heap(heap.begin(), heap.end(), std::greater<>());
    const uint32_t g = heap.back();
    heap.pop_back();
    order.push_back(g);
    for (const uint32_t s : successors[g]) {
      if (--waiting[s] == 0) push(s);
    }
  }
  return order;
}

// Appends `from` to `to` without repeating the constants that both hold copies of.
void AppendOps(const ir::Module& module, graph::Block& to, const graph::Block& from, std::vector<uint32_t>& stamp,
               uint32_t epoch) {
  for (const ir::OpId op : from.ops) {
    if (op.index() >= stamp.size()) stamp.resize(op.index() + 1, 0);
    if (stamp[op.index()] == epoch && IsCopyable(module, op)) continue;
    stamp[op.index()] = epoch;
    to.ops.push_back(op);
  }
}

}  // namespace

// Why the result is acyclic: along a path the names before (and behind) a block never return to an earlier value, so
// whatever lies between two blocks of equal names has these names too and is joined with them.
std::vector<graph::Block> MergeBlocks(const ir::Module& module, std::vector<graph::Block> blocks) {
  const std::vector<uint32_t> before = SetsBefore(blocks);
  const std::vector<uint32_t> behind = SetsBehind(blocks);
  DisjointSets groups(blocks.size());
  for (uint32_t i = 0; i < blocks.size(); ++i) {
    if (blocks[i].kind == BlockKind::kCommunication) continue;
    for (const BlockId p : blocks[i].predecessors) {
      const bool compute = blocks[p.index()].kind == BlockKind::kCompute;
      if (compute && before[p.index()] == before[i] && behind[p.index()] == behind[i]) groups.Join(p.value, i);
    }
  }
  // Groups numbered by their first members.
  std::vector<uint32_t> group_of(blocks.size());
  std::vector<std::vector<uint32_t>> members;
  for (uint32_t i = 0; i < blocks.size(); ++i) {
    const uint32_t root = groups.Find(i);
    if (root == i) {
      group_of[i] = static_cast<uint32_t>(members.size());
      members.emplace_back();
    } else {
      group_of[i] = group_of[root];
    }
    members[group_of[i]].push_back(i);
  }
  std::vector<std::vector<uint32_t>> predecessors(members.size());
  for (uint32_t i = 0; i < blocks.size(); ++i) {
    for (const BlockId p : blocks[i].predecessors) {
      if (group_of[p.index()] != group_of[i]) predecessors[group_of[i]].push_back(group_of[p.index()]);
    }
  }
  for (auto& list : predecessors) SortUnique(list);
  const std::vector<uint32_t> order = OrderOfGroups(predecessors);
  std::vector<uint32_t> new_id(members.size());
  for (uint32_t i = 0; i < order.size(); ++i) new_id[order[i]] = i;

  std::vector<graph::Block> merged(members.size());
  std::vector<uint32_t> stamp;
  for (uint32_t g = 0; g < members.size(); ++g) {
    graph::Block& to = merged[new_id[g]];
    to.kind = blocks[members[g][0]].kind;
    if (members[g].size() == 1) {
      to.ops = std::move(blocks[members[g][0]].ops);
    } else {
      for (const uint32_t i : members[g]) AppendOps(module, to, blocks[i], stamp, g + 1);
    }
    for (const uint32_t p : predecessors[g]) to.predecessors.push_back(BlockId(size_t{new_id[p]}));
    std::sort(to.predecessors.begin(), to.predecessors.end());
  }
  return merged;
}

}  // namespace hespas::split
