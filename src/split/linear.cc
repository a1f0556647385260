#include <optional>
#include <unordered_set>

#include "split/strategies.h"

namespace hespas::split {
namespace {

using graph::BlockKind;

class Cutter {
 public:
  Cutter(const ir::Module& module, const Options& options) : module_(module), options_(options) {}

  void Add(ir::OpId op) {
    for (const ir::ValueId operand : module_.operands(op)) unread_.erase(operand.value);
    if (IsCommunication(module_, op)) {
      // A collective is a block of its own, whatever the separator.
      Flush();
      Emit(BlockKind::kCommunication, op);
    } else if (Separates(options_.separator, module_, op)) {
      AddSeparator(op);
    } else {
      open_.push_back(op);
      if (open_.size() >= options_.block_limit) Flush();
    }
  }

  std::vector<graph::Block> Finish() {
    Flush();
    std::optional<graph::BlockId> before;
    for (size_t i = 0; i < blocks_.size(); ++i) {
      if (before) blocks_[i].predecessors = {*before};
      if (!IsUnreadSend(blocks_[i])) before = graph::BlockId(i);
    }
    return std::move(blocks_);
  }

 private:
  void AddSeparator(ir::OpId op) {
    if (options_.policy != SeparatorPolicy::kEndBlock) Flush();
    open_.push_back(op);
    if (options_.policy != SeparatorPolicy::kStartBlock) Flush();
  }

  void Emit(BlockKind kind, ir::OpId op) {
    blocks_.push_back({.kind = kind, .ops = {op}});
    if (module_.kind(op) != ir::OpKind::kSend || module_.op(op).result_count == 0) return;
    unread_.insert(module_.result(op).value);
  }

  // XLA's sends are asynchronous: what follows does not wait until the partner receives. Two neighbours of a pipeline
  // that send to each other at once would wait for ever.
  bool IsUnreadSend(const graph::Block& block) const {
    const ir::OpId op = block.ops.front();
    return module_.op(op).result_count > 0 && unread_.contains(module_.result(op).value);
  }

  void Flush() {
    if (open_.empty()) return;
    blocks_.push_back({.kind = BlockKind::kCompute, .ops = std::move(open_)});
    open_.clear();
  }

  const ir::Module& module_;
  const Options& options_;
  std::vector<ir::OpId> open_;
  std::vector<graph::Block> blocks_;
  std::unordered_set<uint32_t> unread_;  // tokens of sends that no op takes
};

}  // namespace

std::vector<graph::Block> SplitLinear(const ir::Module& module, const Program& program, const Schedule& schedule,
                                      const Options& options) {
  Cutter cutter(module, options);
  for (const uint32_t position : schedule.position) cutter.Add(program.ops[position]);
  return cutter.Finish();
}

}  // namespace hespas::split
