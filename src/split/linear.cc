#include "split/strategies.h"

namespace hespas::split {
namespace {

using graph::BlockKind;

class Cutter {
 public:
  Cutter(const ir::Module& module, const Options& options) : module_(module), options_(options) {}

  void Add(ir::OpId op) {
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
    for (size_t i = 1; i < blocks_.size(); ++i) blocks_[i].predecessors = {graph::BlockId(i - 1)};
    return std::move(blocks_);
  }

 private:
  void AddSeparator(ir::OpId op) {
    if (options_.policy != SeparatorPolicy::kEndBlock) Flush();
    open_.push_back(op);
    if (options_.policy != SeparatorPolicy::kStartBlock) Flush();
  }

  void Emit(BlockKind kind, ir::OpId op) { blocks_.push_back({.kind = kind, .ops = {op}}); }

  void Flush() {
    if (open_.empty()) return;
    blocks_.push_back({.kind = BlockKind::kCompute, .ops = std::move(open_)});
    open_.clear();
  }

  const ir::Module& module_;
  const Options& options_;
  std::vector<ir::OpId> open_;
  std::vector<graph::Block> blocks_;
};

}  // namespace

std::vector<graph::Block> SplitLinear(const ir::Module& module, const Program& program, const Schedule& schedule,
                                      const Options& options) {
  Cutter cutter(module, options);
  for (const uint32_t position : schedule.position) cutter.Add(program.ops[position]);
  return cutter.Finish();
}

}  // namespace hespas::split
