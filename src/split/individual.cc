#include <algorithm>

#include "split/strategies.h"

namespace hespas::split {
namespace {

using graph::BlockId;
using graph::BlockKind;

constexpr uint32_t kNone = Program::kNowhere;

class Individual {
 public:
  Individual(const ir::Module& module, const Program& program)
      : module_(module), program_(program), block_of_(program.ops.size(), kNone), copied_(program.ops.size(), 0) {}

  std::vector<graph::Block> Run() {
    blocks_.reserve(program_.ops.size());
    for (size_t i = 0; i < program_.ops.size(); ++i) {
      if (!IsCopyable(module_, program_, i)) AddBlock(i);
    }
    PlaceUncopied();
    return std::move(blocks_);
  }

 private:
  void AddBlock(size_t i) {
    graph::Block block;
    const ir::OpId op = program_.ops[i];
    block.kind = IsCommunication(module_, op) ? BlockKind::kCommunication : BlockKind::kCompute;
    for (const ir::ValueId use : program_.uses(i)) {
      const uint32_t maker = program_.maker(module_, use);
      if (maker == kNone || maker >= i) continue;
      if (block_of_[maker] != kNone) {
        block.predecessors.push_back(BlockId(size_t{block_of_[maker]}));
      } else if (block.kind == BlockKind::kCompute) {
        Copy(maker, block);
      }
    }
    std::sort(block.predecessors.begin(), block.predecessors.end());
    block.predecessors.erase(std::unique(block.predecessors.begin(), block.predecessors.end()),
                             block.predecessors.end());
    block.ops.push_back(op);
    block_of_[i] = static_cast<uint32_t>(blocks_.size());
    blocks_.push_back(std::move(block));
  }

  void Copy(uint32_t constant, graph::Block& block) {
    const auto epoch = static_cast<uint32_t>(blocks_.size() + 1);
    if (copied_[constant] == epoch) return;
    block.ops.push_back(program_.ops[constant]);
    copied_[constant] = epoch;
  }

  // Constants that no compute block uses (returned, dead, or inputs of collectives) join the last compute block.
  void PlaceUncopied() {
    auto last = std::find_if(blocks_.rbegin(), blocks_.rend(),
                             [](const graph::Block& block) { return block.kind == BlockKind::kCompute; });
    std::vector<ir::OpId> left;
    for (size_t i = 0; i < program_.ops.size(); ++i) {
      if (block_of_[i] == kNone && copied_[i] == 0) left.push_back(program_.ops[i]);
    }
    if (left.empty()) return;
    if (last == blocks_.rend()) {
      blocks_.push_back({.kind = BlockKind::kCompute, .ops = std::move(left)});
    } else {
      last->ops.insert(last->ops.end(), left.begin(), left.end());
    }
  }

  const ir::Module& module_;
  const Program& program_;
  std::vector<uint32_t> block_of_;  // by position; kNone for copyable constants
  std::vector<uint32_t> copied_;    // into which block last, counted from 1; 0: into none
  std::vector<graph::Block> blocks_;
};

}  // namespace

bool IsCopyable(const ir::Module& module, const Program& program, size_t position) {
  const ir::OpKind kind = module.kind(program.ops[position]);
  if (!program.uses(position).empty()) return false;
  return ir::Traits(kind).sort == ir::OpSort::kConstant || kind == ir::OpKind::kPartitionId ||
         kind == ir::OpKind::kReplicaId;
}

std::vector<graph::Block> SplitIndividual(const ir::Module& module, const Program& program) {
  return Individual(module, program).Run();
}

}  // namespace hespas::split
