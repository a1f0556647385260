#include "memory/order/breadth_first.h"

#include <algorithm>
#include <unordered_map>

#include "graph/number_lists.h"
#include "ir/walk.h"
#include "memory/operands.h"

namespace hespas::memory {
namespace {

// Arguments come first, then ops, in program order.
class Sources {
 public:
  Sources(const ir::Module& module, ir::BlockId block, std::span<const ir::OpId> ops) : module_(module) {
    for (const ir::ValueId argument : module.arguments(block)) number_.emplace(argument.value, next_++);
    for (const ir::OpId op : ops) {
      for (const ir::ValueId result : module.results(op)) number_.emplace(result.value, next_);
      ++next_;
    }
  }

  // What each of them waits for, without repetition.
  graph::NumberLists Run(std::span<const ir::OpId> ops) {
    graph::NumberLists lists;
    last_.assign(next_, 0);
    const size_t arguments = next_ - ops.size();
    for (size_t i = 0; i < arguments; ++i) lists.End();
    for (uint32_t i = 0; i < ops.size(); ++i) {
      VisitOperands(module_, ops[i], [&](ir::ValueId value) {
        const auto found = number_.find(value.value);
        if (found == number_.end() || last_[found->second] == i + 1) return;
        last_[found->second] = i + 1;
        lists.Add(found->second);
      });
      lists.End();
    }
    return lists;
  }

 private:
  const ir::Module& module_;
  uint32_t next_ = 0;
  std::unordered_map<uint32_t, uint32_t> number_;  // by value
  std::vector<uint32_t> last_;                     // op that named it last
};

}  // namespace

std::vector<ir::OpId> BreadthFirst(const ir::Module& module, ir::BlockId block) {
  const auto& all = module.block(block).ops;
  const bool returns = !all.empty() && ir::IsTerminator(module.kind(all.back()));
  const std::span<const ir::OpId> ops(all.data(), all.size() - (returns ? 1 : 0));
  const graph::NumberLists waits_for = Sources(module, block, ops).Run(ops);
  graph::NumberLists waiting = waits_for.Inverted(waits_for.size());
  const size_t arguments = waits_for.size() - ops.size();
  // What XLA's passes make is appended to the consumers of a value; kernels come from the last to the first.
  const auto is_made = [&](uint32_t i, auto... kinds) { return ((module.kind(ops[i - arguments]) == kinds) || ...); };
  for (size_t i = 0; i < waiting.size(); ++i) {
    const std::span<uint32_t> users = waiting[i];
    const auto kernels = std::stable_partition(users.begin(), users.end(), [&](uint32_t u) {
      return !is_made(u, ir::OpKind::kFusion, ir::OpKind::kTranspose, ir::OpKind::kReverse);
    });
    std::stable_partition(users.begin(), kernels, [&](uint32_t u) { return !is_made(u, ir::OpKind::kReduceWindow); });
    std::reverse(kernels, users.end());
  }
  std::vector<size_t> missing;
  std::vector<uint32_t> queue;
  for (uint32_t i = 0; i < waits_for.size(); ++i) {
    missing.push_back(waits_for[i].size());
    if (missing[i] == 0) queue.push_back(i);
  }
  std::vector<ir::OpId> order;
  for (size_t next = 0; next < queue.size(); ++next) {
    const uint32_t i = queue[next];
    if (i >= arguments) order.push_back(ops[i - arguments]);
    for (const uint32_t user : waiting[i]) {
      if (--missing[user] == 0) queue.push_back(user);
    }
  }
  return order;
}

}  // namespace hespas::memory
