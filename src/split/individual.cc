#include <algorithm>

#include "ir/facts/execution/pipelined.h"
#include "split/strategies.h"

namespace hespas::split {
namespace {

using graph::BlockId;
using graph::BlockKind;

constexpr uint32_t kNone = Program::kNowhere;

class Individual {
 public:
  Individual(const ir::Module& module, const Program& program, const Schedule& schedule)
      : module_(module),
        program_(program),
        schedule_(schedule),
        block_of_(schedule.position.size(), kNone),
        copied_(program.ops.size(), 0),
        in_order_(std::any_of(program.ops.begin(), program.ops.end(),
                              [&](ir::OpId op) { return module.kind(op) == ir::OpKind::kAsyncStart; })) {}

  std::vector<graph::Block> Run() {
    blocks_.reserve(schedule_.position.size());
    for (size_t step = 0; step < schedule_.position.size(); ++step) {
      first_block_.push_back(static_cast<uint32_t>(blocks_.size()));
      if (!IsCopyable(module_, Op(step))) AddBlock(step);
    }
    first_block_.push_back(static_cast<uint32_t>(blocks_.size()));
    PlaceUncopied();
    return std::move(blocks_);
  }

  // The schedule's, with blocks in the place of steps.
  std::vector<RepeatedLoop> Loops() const {
    std::vector<RepeatedLoop> loops = schedule_.loops;
    for (RepeatedLoop& loop : loops) {
      for (uint32_t& step : loop.first_block) step = first_block_[step];
    }
    return loops;
  }

 private:
  ir::OpId Op(size_t step) const { return program_.ops[schedule_.position[step]]; }

  void AddBlock(size_t step) {
    graph::Block block;
    block.kind = IsCommunication(module_, Op(step)) ? BlockKind::kCommunication : BlockKind::kCompute;
    for (const uint32_t producer : schedule_.producers(step)) {
      if (producer == kNone) continue;
      if (block_of_[producer] != kNone) {
        block.predecessors.push_back(BlockId(size_t{block_of_[producer]}));
      } else if (block.kind == BlockKind::kCompute) {
        Copy(schedule_.position[producer], block);
      }
    }
    for (; next_wait_ < schedule_.waits.size() && schedule_.waits[next_wait_].first <= step; ++next_wait_) {
      const auto& [waiting, producer] = schedule_.waits[next_wait_];
      if (waiting == step && block_of_[producer] != kNone)
        block.predecessors.push_back(BlockId(size_t{block_of_[producer]}));
    }
    if (in_order_) FollowStream(step, block);
    std::sort(block.predecessors.begin(), block.predecessors.end());
    block.predecessors.erase(std::unique(block.predecessors.begin(), block.predecessors.end()),
                             block.predecessors.end());
    block.ops.push_back(Op(step));
    block.repeats = schedule_.repeats[step];
    block_of_[step] = static_cast<uint32_t>(blocks_.size());
    blocks_.push_back(std::move(block));
  }

  // Starts and dones of collectives say when each is to begin and who has to wait for it: everything but what a start
  // started runs in program order, and what runs beside other iterations.
  void FollowStream(size_t step, graph::Block& block) {
    if (module_.attribute(Op(step), ir::kPipelined) != nullptr) return;
    if (last_in_stream_ != kNone) block.predecessors.push_back(BlockId(size_t{last_in_stream_}));
    if (module_.kind(Op(step)) != ir::OpKind::kAsyncStart) last_in_stream_ = static_cast<uint32_t>(blocks_.size());
  }

  void Copy(uint32_t constant, graph::Block& block) {
    const auto epoch = static_cast<uint32_t>(blocks_.size() + 1);
    if (copied_[constant] == epoch) return;
    block.ops.push_back(program_.ops[constant]);
    copied_[constant] = epoch;
  }

  // Constants that no compute block uses (returned, dead, or inputs of collectives) join the last compute block.
  void PlaceUncopied() {
    std::vector<ir::OpId> left;
    for (const uint32_t position : schedule_.position) {
      if (!IsCopyable(module_, program_.ops[position]) || copied_[position] != 0) continue;
      left.push_back(program_.ops[position]);
      copied_[position] = kNone;
    }
    if (left.empty()) return;
    const auto last = std::find_if(blocks_.rbegin(), blocks_.rend(),
                                   [](const graph::Block& block) { return block.kind == BlockKind::kCompute; });
    if (last == blocks_.rend()) {
      blocks_.push_back({.kind = BlockKind::kCompute, .ops = std::move(left)});
    } else {
      last->ops.insert(last->ops.end(), left.begin(), left.end());
    }
  }

  const ir::Module& module_;
  const Program& program_;
  const Schedule& schedule_;
  size_t next_wait_ = 0;               // in schedule_.waits
  std::vector<uint32_t> block_of_;     // by step; kNone for copyable constants
  std::vector<uint32_t> first_block_;  // made at the step or behind it
  std::vector<uint32_t> copied_;       // by op: into which block last, counted from 1; 0: into none
  bool in_order_;
  uint32_t last_in_stream_ = kNone;  // block
  std::vector<graph::Block> blocks_;
};

}  // namespace

bool IsCopyable(const ir::Module& module, ir::OpId op) {
  const ir::OpKind kind = module.kind(op);
  if (module.op(op).operand_count > 0 || module.op(op).first_region.valid()) return false;
  return ir::Traits(kind).sort == ir::OpSort::kConstant || kind == ir::OpKind::kPartitionId ||
         kind == ir::OpKind::kReplicaId;
}

std::vector<graph::Block> SplitIndividual(const ir::Module& module, const Program& program, const Schedule& schedule,
                                          std::vector<RepeatedLoop>& loops) {
  Individual individual(module, program, schedule);
  std::vector<graph::Block> blocks = individual.Run();
  loops = individual.Loops();
  return blocks;
}

}  // namespace hespas::split
