#include "assemble/memory/memory_order.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <queue>
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
  std::vector<uint32_t> uses;  // readers of each buffer; one more where the block returns it
};

class DagBuilder {
 public:
  DagBuilder(const ir::Module& module, ir::BlockId block, const Donation& donation, const BufferSizes& sizes)
      : module_(module),
        block_(block),
        donation_(donation),
        sizes_(sizes),
        homed_(module.value_count()),
        maker_(module.value_count(), kNone),
        buffer_of_(module.value_count(), kNone) {}

  Dag Run() {
    const auto& all = module_.block(block_).ops;
    const bool returns = !all.empty() && ir::IsTerminator(module_.kind(all.back()));
    dag_.ops.assign(all.begin(), returns ? all.end() - 1 : all.end());
    const size_t count = dag_.ops.size();
    dag_.makes.assign(count, 0);
    last_user_.assign(count, kNone);
    FindHomes();
    for (uint32_t i = 0; i < count; ++i) Add(i);
    dag_.users = dag_.operands.Inverted(count);
    dag_.readers = dag_.reads.Inverted(dag_.buffer_bytes.size());
    for (size_t buffer = 0; buffer < dag_.buffer_bytes.size(); ++buffer) {
      dag_.uses.push_back(static_cast<uint32_t>(dag_.readers[buffer].size()));
    }
    if (returns) {
      for (const ir::ValueId value : module_.operands(all.back())) {
        if (const uint32_t buffer = buffer_of_[value.index()]; buffer != kNone) ++dag_.uses[buffer];
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
      while (value.valid() && !homed_[value.index()]) {
        homed_[value.index()] = true;
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
    dag_.operands.End();
    dag_.reads.End();
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
    const bool free = module_.type(result).kind == ir::TypeKind::kAsyncBundle || homed_[result.index()];
    const int64_t bytes = free ? 0 : sizes_.Of(result);
    buffer_of_[result.index()] = static_cast<uint32_t>(dag_.buffer_bytes.size());
    dag_.buffer_bytes.push_back(bytes);
    last_reader_.push_back(kNone);
    dag_.makes[i] = internal::SaturatingAdd(dag_.makes[i], bytes);
  }

  const ir::Module& module_;
  ir::BlockId block_;
  const Donation& donation_;
  const BufferSizes& sizes_;
  Dag dag_;
  std::vector<bool> homed_;            // by value
  std::vector<uint32_t> maker_;        // by value
  std::vector<uint32_t> buffer_of_;    // by value
  std::vector<uint32_t> last_user_;    // of each op: the op that read a result of it last
  std::vector<uint32_t> last_reader_;  // of each buffer
};

// Depth first from ops without users; `operands` gives the order in which each op's operands are visited.
std::vector<uint32_t> PostOrder(const Dag& dag, const NumberLists& operands) {
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
  for (uint32_t i = 0; i < dag.ops.size(); ++i) {
    if (dag.users[i].empty()) visit(i);
  }
  return order;
}

// XLA's DFSMemoryScheduler: operands with more extra users, then with heavier subtrees, come first.
NumberLists HeavyOperandsFirst(const Dag& dag) {
  constexpr int64_t kMost = int64_t{1} << 50;
  std::vector<int64_t> extra(dag.ops.size());
  std::vector<int64_t> total(dag.ops.size());
  NumberLists operands = dag.operands;
  for (uint32_t i = 0; i < dag.ops.size(); ++i) {
    extra[i] = dag.users[i].empty() ? 0 : static_cast<int64_t>(dag.users[i].size()) - 1;
    total[i] = dag.makes[i];
    for (const uint32_t operand : dag.operands[i]) {
      extra[i] = std::min(kMost, extra[i] + extra[operand]);
      total[i] = std::min(kMost, total[i] + total[operand]);
    }
    const std::span<uint32_t> mine = operands[i];
    if (mine.size() < 2) continue;
    std::stable_sort(mine.begin(), mine.end(), [&](uint32_t a, uint32_t b) {
      return std::tuple(extra[a], total[a]) > std::tuple(extra[b], total[b]);
    });
  }
  return operands;
}

// An order with every op that frees more than it makes moved to where its operands are ready.
class EagerFrees {
 public:
  EagerFrees(const Dag& dag, const std::vector<uint32_t>& order) : dag_(dag), order_(order), uses_(dag.uses) {
    position_.resize(order.size());
    for (uint32_t at = 0; at < order.size(); ++at) position_[order[at]] = at;
    for (uint32_t i = 0; i < dag.ops.size(); ++i) {
      waiting_.push_back(static_cast<uint32_t>(dag.operands[i].size()));
    }
  }

  std::vector<uint32_t> Run() {
    done_.assign(order_.size(), false);
    out_.reserve(order_.size());
    for (const uint32_t i : order_) {
      if (!done_[i]) Schedule(i);
      while (!gainers_.empty()) {
        const uint32_t first = order_[gainers_.top()];
        gainers_.pop();
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
      for (const uint32_t reader : dag_.readers[buffer]) Consider(reader);
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
    if (gain > 0) gainers_.push(position_[i]);
  }

  const Dag& dag_;
  const std::vector<uint32_t>& order_;
  std::vector<uint32_t> uses_;
  std::vector<uint32_t> position_;
  std::vector<uint32_t> waiting_;
  std::vector<bool> done_;
  std::priority_queue<uint32_t, std::vector<uint32_t>, std::greater<>> gainers_;  // positions
  std::vector<uint32_t> out_;
};

std::vector<uint32_t> ProgramOrder(const Dag& dag) {
  std::vector<uint32_t> order(dag.ops.size());
  std::iota(order.begin(), order.end(), 0u);
  return order;
}

}  // namespace

std::vector<std::vector<ir::OpId>> MemoryOrders(const ir::Module& module, ir::BlockId block, const Donation& donation,
                                                const BufferSizes& sizes) {
  const Dag dag = DagBuilder(module, block, donation, sizes).Run();
  std::vector<std::vector<uint32_t>> orders;
  const auto add = [&](std::vector<uint32_t> order) {
    if (std::find(orders.begin(), orders.end(), order) == orders.end()) orders.push_back(std::move(order));
  };
  const std::vector<uint32_t> heavy = PostOrder(dag, HeavyOperandsFirst(dag));
  const std::vector<uint32_t> written = ProgramOrder(dag);
  add(heavy);
  add(written);
  add(EagerFrees(dag, heavy).Run());
  add(EagerFrees(dag, written).Run());
  std::vector<std::vector<ir::OpId>> out;
  for (const auto& order : orders) {
    std::vector<ir::OpId>& ops = out.emplace_back();
    ops.reserve(order.size());
    for (const uint32_t i : order) ops.push_back(dag.ops[i]);
  }
  return out;
}

}  // namespace hespas::assemble::memory
