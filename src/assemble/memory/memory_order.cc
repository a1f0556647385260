#include "assemble/memory/memory_order.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "assemble/memory/aliasing.h"
#include "assemble/memory/liveness.h"
#include "base/units.h"
#include "ir/walk.h"

namespace hespas::assemble::memory {
namespace {

constexpr uint32_t kNone = 0xFFFFFFFFu;

// Ops of a block, numbered in program order, with what they need, read and make.
struct Dag {
  std::vector<ir::OpId> ops;
  std::vector<std::vector<uint32_t>> operands;  // makers, without repetition, in order of first use
  std::vector<std::vector<uint32_t>> users;
  std::vector<std::vector<uint32_t>> reads;  // buffers, without repetition
  std::vector<int64_t> makes;                // bytes of new buffers
  std::vector<std::vector<uint32_t>> made;   // buffers
  std::vector<int64_t> buffer_bytes;
  std::vector<uint32_t> uses;  // readers of each buffer; one more where the block returns it
};

class DagBuilder {
 public:
  DagBuilder(const ir::Module& module, ir::BlockId block, const Donation& donation)
      : module_(module), block_(block), donation_(donation) {}

  Dag Run() {
    const auto& all = module_.block(block_).ops;
    const bool returns = !all.empty() && ir::IsTerminator(module_.kind(all.back()));
    dag_.ops.assign(all.begin(), returns ? all.end() - 1 : all.end());
    const size_t count = dag_.ops.size();
    dag_.operands.resize(count);
    dag_.users.resize(count);
    dag_.reads.resize(count);
    dag_.makes.assign(count, 0);
    dag_.made.resize(count);
    FindHomes();
    for (uint32_t i = 0; i < count; ++i) Add(i);
    if (returns) {
      for (const ir::ValueId value : module_.operands(all.back())) {
        if (const auto found = buffer_of_.find(value.value); found != buffer_of_.end()) ++dag_.uses[found->second];
      }
    }
    return std::move(dag_);
  }

 private:
  // Results that lie in donated arguments cost nothing.
  void FindHomes() {
    for (size_t r = 0; r < donation_.argument_of_result.size(); ++r) {
      if (donation_.argument_of_result[r] == Donation::kNone) continue;
      ir::ValueId value = Returned(module_, block_, r);
      while (value.valid() && homed_.insert(value.value).second) {
        const ir::OpId op = module_.defining_op(value);
        const auto view = op.valid() ? ViewOf(module_, op, value.index() - module_.op(op).first_result.index())
                                     : std::optional<size_t>();
        value = view ? module_.operands(op)[*view] : ir::ValueId();
      }
    }
  }

  void Add(uint32_t i) {
    const ir::OpId op = dag_.ops[i];
    for (const ir::ValueId value : module_.operands(op)) Read(i, value);
    if (module_.op(op).first_region.valid() && module_.kind(op) != ir::OpKind::kFusion) {
      ir::WalkNested(module_, op, [&](ir::OpId nested) {
        for (const ir::ValueId value : module_.operands(nested)) Read(i, value);
      });
    }
    for (const uint32_t buffer : dag_.reads[i]) ++dag_.uses[buffer];
    for (const uint32_t maker : dag_.operands[i]) dag_.users[maker].push_back(i);
    for (size_t r = 0; r < module_.op(op).result_count; ++r) Make(i, r);
  }

  void Read(uint32_t i, ir::ValueId value) {
    const auto maker = maker_.find(value.value);
    if (maker == maker_.end()) return;
    AddOnce(dag_.operands[i], maker->second);
    const auto buffer = buffer_of_.find(value.value);
    if (buffer != buffer_of_.end()) AddOnce(dag_.reads[i], buffer->second);
  }

  static void AddOnce(std::vector<uint32_t>& list, uint32_t value) {
    if (std::find(list.begin(), list.end(), value) == list.end()) list.push_back(value);
  }

  void Make(uint32_t i, size_t r) {
    const ir::OpId op = dag_.ops[i];
    const ir::ValueId result = module_.result(op, r);
    maker_.emplace(result.value, i);
    if (const auto view = ViewOf(module_, op, r)) {
      const auto from = buffer_of_.find(module_.operands(op)[*view].value);
      if (from != buffer_of_.end()) buffer_of_.emplace(result.value, from->second);
      return;
    }
    const bool free = module_.type(result).kind == ir::TypeKind::kAsyncBundle || homed_.contains(result.value);
    const int64_t bytes = free ? 0 : BufferBytes(module_, result);
    const auto buffer = static_cast<uint32_t>(dag_.buffer_bytes.size());
    buffer_of_.emplace(result.value, buffer);
    dag_.buffer_bytes.push_back(bytes);
    dag_.uses.push_back(0);
    dag_.made[i].push_back(buffer);
    dag_.makes[i] = internal::SaturatingAdd(dag_.makes[i], bytes);
  }

  const ir::Module& module_;
  ir::BlockId block_;
  const Donation& donation_;
  Dag dag_;
  std::unordered_set<uint32_t> homed_;                // values
  std::unordered_map<uint32_t, uint32_t> maker_;      // by value
  std::unordered_map<uint32_t, uint32_t> buffer_of_;  // by value
};

// Depth first from ops without users; `operands` gives the order in which each op's operands are visited.
std::vector<uint32_t> PostOrder(const Dag& dag, const std::vector<std::vector<uint32_t>>& operands) {
  std::vector<uint32_t> order;
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
  for (uint32_t i = 0; i < dag.ops.size(); ++i) {
    if (dag.users[i].empty()) visit(i);
  }
  return order;
}

// XLA's DFSMemoryScheduler: operands with more extra users, then with heavier subtrees, come first.
std::vector<std::vector<uint32_t>> HeavyOperandsFirst(const Dag& dag) {
  constexpr int64_t kMost = int64_t{1} << 50;
  std::vector<int64_t> extra(dag.ops.size());
  std::vector<int64_t> total(dag.ops.size());
  std::vector<std::vector<uint32_t>> operands = dag.operands;
  for (uint32_t i = 0; i < dag.ops.size(); ++i) {
    extra[i] = dag.users[i].empty() ? 0 : static_cast<int64_t>(dag.users[i].size()) - 1;
    total[i] = dag.makes[i];
    for (const uint32_t operand : dag.operands[i]) {
      extra[i] = std::min(kMost, extra[i] + extra[operand]);
      total[i] = std::min(kMost, total[i] + total[operand]);
    }
    std::stable_sort(operands[i].begin(), operands[i].end(), [&](uint32_t a, uint32_t b) {
      return std::tuple(extra[a], total[a]) > std::tuple(extra[b], total[b]);
    });
  }
  return operands;
}

// An order with every op that frees more than it makes moved to where its operands are ready.
class EagerFrees {
 public:
  EagerFrees(const Dag& dag, const std::vector<uint32_t>& order) : dag_(dag), order_(order), uses_(dag.uses) {
    readers_.resize(dag.buffer_bytes.size());
    position_.resize(order.size());
    for (uint32_t at = 0; at < order.size(); ++at) position_[order[at]] = at;
    for (uint32_t i = 0; i < dag.ops.size(); ++i) {
      waiting_.push_back(static_cast<uint32_t>(dag.operands[i].size()));
      for (const uint32_t buffer : dag.reads[i]) readers_[buffer].push_back(i);
    }
  }

  std::vector<uint32_t> Run() {
    done_.assign(order_.size(), false);
    for (const uint32_t i : order_) {
      if (!done_[i]) Schedule(i);
      while (!gainers_.empty()) {
        const uint32_t first = order_[*gainers_.begin()];
        gainers_.erase(gainers_.begin());
        if (!done_[first]) Schedule(first);
      }
    }
    return std::move(out_);
  }

 private:
  void Schedule(uint32_t i) {
    done_[i] = true;
    out_.push_back(i);
    for (const uint32_t buffer : dag_.reads[i]) {
      if (--uses_[buffer] != 1) continue;
      for (const uint32_t reader : readers_[buffer]) Consider(reader);
    }
    for (const uint32_t user : dag_.users[i]) {
      --waiting_[user];
      Consider(user);
    }
  }

  void Consider(uint32_t i) {
    if (done_[i] || waiting_[i] > 0) return;
    int64_t gain = -dag_.makes[i];
    for (const uint32_t buffer : dag_.reads[i]) {
      if (uses_[buffer] == 1) gain = internal::SaturatingAdd(gain, dag_.buffer_bytes[buffer]);
    }
    if (gain > 0) gainers_.insert(position_[i]);
  }

  const Dag& dag_;
  const std::vector<uint32_t>& order_;
  std::vector<uint32_t> uses_;
  std::vector<uint32_t> position_;
  std::vector<uint32_t> waiting_;
  std::vector<std::vector<uint32_t>> readers_;
  std::vector<bool> done_;
  std::set<uint32_t> gainers_;  // positions
  std::vector<uint32_t> out_;
};

std::vector<uint32_t> ProgramOrder(const Dag& dag) {
  std::vector<uint32_t> order(dag.ops.size());
  std::iota(order.begin(), order.end(), 0u);
  return order;
}

}  // namespace

std::vector<std::vector<ir::OpId>> MemoryOrders(const ir::Module& module, ir::BlockId block, const Donation& donation) {
  const Dag dag = DagBuilder(module, block, donation).Run();
  std::vector<std::vector<uint32_t>> orders = {PostOrder(dag, HeavyOperandsFirst(dag)), ProgramOrder(dag)};
  for (size_t i = 0; i < 2; ++i) orders.push_back(EagerFrees(dag, orders[i]).Run());
  std::vector<std::vector<ir::OpId>> out;
  for (const auto& order : orders) {
    std::vector<ir::OpId>& ops = out.emplace_back();
    for (const uint32_t i : order) ops.push_back(dag.ops[i]);
  }
  return out;
}

}  // namespace hespas::assemble::memory
