#include "assemble/memory/memory_order.h"

#include <algorithm>
#include <limits>
#include <map>
#include <span>
#include <tuple>
#include <utility>

#include "assemble/memory/aliasing.h"
#include "assemble/memory/number_lists.h"
#include "base/units.h"
#include "ir/walk.h"

namespace hespas::assemble::memory {
namespace {

constexpr uint32_t kNone = 0xFFFFFFFFu;

// Ops of a block, numbered in program order, with what they need, read and make.
struct Dag {
  std::vector<ir::OpId> ops;
  NumberLists operands;  // makers, without repetition, in order of first use
  NumberLists users;
  NumberLists reads;           // buffers, without repetition
  NumberLists readers;         // of each buffer
  std::vector<int64_t> makes;  // bytes of new buffers
  std::vector<int64_t> buffer_bytes;
  std::vector<uint32_t> roots;  // makers of what the block returns, in order
  std::vector<bool> scalar;     // makes one number
  std::vector<uint32_t> uses;   // readers of each buffer; one more where the block returns it
};

class DagBuilder {
 public:
  DagBuilder(const ir::Module& module, ir::BlockId block, const BufferSizes& sizes)
      : module_(module),
        block_(block),
        sizes_(sizes),
        maker_(module.value_count(), kNone),
        buffer_of_(module.value_count(), kNone) {}

  Dag Run() {
    const auto& all = module_.block(block_).ops;
    const bool returns = !all.empty() && ir::IsTerminator(module_.kind(all.back()));
    dag_.ops.assign(all.begin(), returns ? all.end() - 1 : all.end());
    const size_t count = dag_.ops.size();
    dag_.makes.assign(count, 0);
    last_user_.assign(count, kNone);
    for (uint32_t i = 0; i < count; ++i) Add(i);
    dag_.users = dag_.operands.Inverted(count);
    dag_.readers = dag_.reads.Inverted(dag_.buffer_bytes.size());
    for (size_t buffer = 0; buffer < dag_.buffer_bytes.size(); ++buffer) {
      dag_.uses.push_back(static_cast<uint32_t>(dag_.readers[buffer].size()));
    }
    if (returns) {
      for (const ir::ValueId value : module_.operands(all.back())) {
        if (const uint32_t buffer = buffer_of_[value.index()]; buffer != kNone) ++dag_.uses[buffer];
        if (const uint32_t maker = maker_[value.index()]; maker != kNone) dag_.roots.push_back(maker);
      }
    }
    return std::move(dag_);
  }

 private:
  void Add(uint32_t i) {
    const ir::OpId op = dag_.ops[i];
    for (const ir::ValueId value : module_.operands(op)) Read(i, value);
    if (module_.op(op).first_region.valid() && module_.kind(op) != ir::OpKind::kFusion) {
      ir::WalkNested(module_, op, [&](ir::OpId nested) {
        for (const ir::ValueId value : module_.operands(nested)) Read(i, value);
      });
    }
    dag_.operands.End();
    dag_.reads.End();
    dag_.scalar.push_back(module_.op(op).result_count == 1 && module_.type(module_.result(op)).element_count() == 1);
    for (size_t r = 0; r < module_.op(op).result_count; ++r) Make(i, r);
  }

  void Read(uint32_t i, ir::ValueId value) {
    const uint32_t maker = maker_[value.index()];
    if (maker == kNone) return;
    if (std::exchange(last_user_[maker], i) != i) dag_.operands.Add(maker);
    const uint32_t buffer = buffer_of_[value.index()];
    if (buffer != kNone && std::exchange(last_reader_[buffer], i) != i) dag_.reads.Add(buffer);
  }

  void Make(uint32_t i, size_t r) {
    const ir::OpId op = dag_.ops[i];
    const ir::ValueId result = module_.result(op, r);
    maker_[result.index()] = i;
    if (const auto view = ViewOf(module_, op, r)) {
      buffer_of_[result.index()] = buffer_of_[module_.operands(op)[*view].index()];
      return;
    }
    const bool free = module_.type(result).kind == ir::TypeKind::kAsyncBundle;
    const int64_t bytes = free || module_.kind(op) == ir::OpKind::kConstant ? 0 : sizes_.Of(result);
    buffer_of_[result.index()] = static_cast<uint32_t>(dag_.buffer_bytes.size());
    dag_.buffer_bytes.push_back(bytes);
    last_reader_.push_back(kNone);
    dag_.makes[i] = internal::SaturatingAdd(dag_.makes[i], bytes);
  }

  const ir::Module& module_;
  ir::BlockId block_;
  const BufferSizes& sizes_;
  Dag dag_;
  std::vector<uint32_t> maker_;        // by value
  std::vector<uint32_t> buffer_of_;    // by value
  std::vector<uint32_t> last_user_;    // of each op: the op that read a result of it last
  std::vector<uint32_t> last_reader_;  // of each buffer
};

// Depth first from what is returned and then from ops without users; `operands` gives the order in which each op's
// operands are visited.
std::vector<uint32_t> PostOrder(const Dag& dag, const NumberLists& operands, const std::vector<uint32_t>& roots) {
  std::vector<uint32_t> order;
  order.reserve(dag.ops.size());
  std::vector<uint8_t> state(dag.ops.size(), 0);  // 1: entered, 2: done
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
  for (uint32_t i = 0; i < dag.ops.size(); ++i) {
    if (dag.users[i].empty()) visit(i);
  }
  return order;
}

// XLA's DFSMemoryScheduler: operands with more extra users, then with heavier subtrees, come first. Sums count shared
// subtrees again and again, up to the number of ops and the bytes of all.
std::vector<uint32_t> HeavyFirst(const Dag& dag) {
  std::vector<int64_t> extra(dag.ops.size());
  std::vector<int64_t> total(dag.ops.size());
  NumberLists operands = dag.operands;
  const auto heavier = [&](uint32_t a, uint32_t b) {
    return std::tuple(extra[a], total[a]) > std::tuple(extra[b], total[b]);
  };
  const auto most = static_cast<int64_t>(dag.ops.size());
  int64_t all = 0;
  for (uint32_t i = 0; i < dag.ops.size(); ++i) {
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
  explicit ListOrder(const Dag& dag) : dag_(dag), uses_(dag.uses), place_(dag.ops.size(), ready_.end()) {}

  std::vector<uint32_t> Run() {
    for (uint32_t i = 0; i < dag_.ops.size(); ++i) {
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
      for (const uint32_t reader : dag_.readers[buffer]) Renew(reader);
    }
  }

  // The last reader of a buffer frees it.
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

std::vector<std::vector<ir::OpId>> MemoryOrders(const ir::Module& module, ir::BlockId block, const BufferSizes& sizes) {
  const Dag dag = DagBuilder(module, block, sizes).Run();
  std::vector<std::vector<uint32_t>> orders;
  const auto add = [&](std::vector<uint32_t> order) {
    if (std::find(orders.begin(), orders.end(), order) == orders.end()) orders.push_back(std::move(order));
  };
  add(ListOrder(dag).Run());
  add(HeavyFirst(dag));
  add(PostOrder(dag, dag.operands, dag.roots));
  std::vector<std::vector<ir::OpId>> out;
  for (const auto& order : orders) {
    std::vector<ir::OpId>& ops = out.emplace_back();
    ops.reserve(order.size());
    for (const uint32_t i : order) ops.push_back(dag.ops[i]);
  }
  return out;
}

}  // namespace hespas::assemble::memory
