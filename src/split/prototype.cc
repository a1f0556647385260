#include "split/prototype.h"

#include <algorithm>

#include "split/program.h"
#include "split/prototype_merge.h"
#include "split/structure_hash.h"

namespace hespas::split {
namespace {

using graph::BlockKind;

constexpr uint32_t kUnset = Program::kNowhere;

// What the prototype knows as communication; everything else is computation.
constexpr std::string_view kCommunicationNames[] = {"stablehlo.collective_permute", "stablehlo.all_gather",
                                                    "stablehlo.all_to_all", "stablehlo.reduce_scatter",
                                                    "stablehlo.all_reduce"};

bool IsPrototypeCommunication(const ir::Module& module, ir::OpId op) {
  if (!ir::IsCollective(module.kind(op))) return false;
  const std::string_view name = module.name(op);
  return std::find(std::begin(kCommunicationNames), std::end(kCommunicationNames), name) !=
         std::end(kCommunicationNames);
}

BlockKind KindOf(const ir::Module& module, ir::OpId op) {
  return IsPrototypeCommunication(module, op) ? BlockKind::kCommunication : BlockKind::kCompute;
}

std::vector<PrototypeBlock> Linear(const ir::Module& module, const Program& program, const Options& options) {
  std::vector<PrototypeBlock> blocks;
  std::vector<ir::OpId> open;
  const auto emit = [&](BlockKind kind, std::vector<ir::OpId> ops) {
    blocks.push_back({.kind = kind, .ops = std::move(ops)});
  };
  const auto flush = [&] {
    if (!open.empty()) emit(BlockKind::kCompute, std::move(open));
    open.clear();
  };
  std::vector<ir::OpId> ops = program.ops;
  if (program.terminator.valid()) ops.push_back(program.terminator);
  for (const ir::OpId op : ops) {
    const bool separates = options.separator == Separator::kCommunication ? IsPrototypeCommunication(module, op)
                                                                          : Separates(options.separator, module, op);
    if (separates && options.policy == SeparatorPolicy::kIsolated) {
      flush();
      emit(options.separator_kind, {op});
    } else if (separates) {
      if (options.policy == SeparatorPolicy::kStartBlock) flush();
      open.push_back(op);
      if (options.policy == SeparatorPolicy::kEndBlock) flush();
    } else {
      open.push_back(op);
      if (open.size() >= options.block_limit) flush();
    }
  }
  flush();
  // The prototype's chain runs from later to earlier blocks.
  for (uint32_t i = 1; i < blocks.size(); ++i) {
    blocks[i].successors.push_back(i - 1);
    blocks[i - 1].predecessors.push_back(i);
  }
  return blocks;
}

class Individual {
 public:
  Individual(const ir::Module& module, const Program& program)
      : module_(module),
        program_(program),
        block_of_(program.ops.size(), kUnset),
        used_(program.ops.size(), false),
        waited_for_(program.ops.size(), 0),
        stamp_(program.ops.size(), 0) {}

  std::vector<PrototypeBlock> Run() {
    for (size_t i = 0; i < program_.ops.size(); ++i) {
      const auto operands = module_.operands(program_.ops[i]);
      const bool constant = std::all_of(operands.begin(), operands.end(), [&](ir::ValueId v) { return IsConstant(v); });
      if (!constant) AddBlock(static_cast<uint32_t>(i));
    }
    PlaceUnused();
    return std::move(blocks_);
  }

 private:
  // Made in `main` by an op that formed no block.
  bool IsConstant(ir::ValueId value) const {
    const uint32_t producer = program_.producer(module_, value);
    return producer != kUnset && block_of_[producer] == kUnset;
  }

  void AddBlock(uint32_t i) {
    const auto id = static_cast<uint32_t>(blocks_.size());
    PrototypeBlock block{.kind = KindOf(module_, program_.ops[i])};
    for (const ir::ValueId value : module_.operands(program_.ops[i])) {
      const uint32_t producer = program_.producer(module_, value);
      if (producer == kUnset || producer >= i) continue;
      if (block_of_[producer] == kUnset) {
        CopyChain(producer, id + 1, block);
      } else if (waited_for_[block_of_[producer]] != id + 1) {
        waited_for_[block_of_[producer]] = id + 1;
        block.predecessors.push_back(block_of_[producer]);
        blocks_[block_of_[producer]].successors.push_back(id);
      }
    }
    block.ops.push_back(program_.ops[i]);
    block_of_[i] = id;
    blocks_.push_back(std::move(block));
  }

  // Copies a constant after what it is made from (depth first, each op once a block).
  void CopyChain(uint32_t root, uint32_t epoch, PrototypeBlock& block) {
    struct Frame {
      uint32_t position;
      size_t next;
    };
    std::vector<Frame> stack;
    const auto enter = [&](uint32_t position) {
      if (stamp_[position] == epoch) return;
      stamp_[position] = epoch;
      stack.push_back({position, 0});
    };
    enter(root);
    while (!stack.empty()) {
      Frame& top = stack.back();
      const ir::OpId op = program_.ops[top.position];
      const auto operands = module_.operands(op);
      if (top.next < operands.size()) {
        enter(program_.producer(module_, operands[top.next++]));
        continue;
      }
      block.ops.push_back(op);
      used_[top.position] = true;
      stack.pop_back();
    }
  }

  void PlaceUnused() {
    std::vector<uint32_t> left;
    for (uint32_t i = 0; i < program_.ops.size(); ++i) {
      if (block_of_[i] == kUnset && !used_[i]) left.push_back(i);
    }
    constexpr BlockKind kKinds[] = {BlockKind::kCompute, BlockKind::kCommunication};
    uint32_t last[2] = {kUnset, kUnset};
    for (uint32_t b = 0; b < blocks_.size(); ++b) last[static_cast<size_t>(blocks_[b].kind)] = b;
    for (const uint32_t i : left) {
      const auto kind = static_cast<size_t>(KindOf(module_, program_.ops[i]));
      if (last[kind] == kUnset) {
        last[kind] = static_cast<uint32_t>(blocks_.size());
        blocks_.push_back({.kind = kKinds[kind]});
      }
      blocks_[last[kind]].ops.push_back(program_.ops[i]);
    }
  }

  const ir::Module& module_;
  const Program& program_;
  std::vector<uint32_t> block_of_;  // by position; kUnset for constants
  std::vector<bool> used_;
  std::vector<uint32_t> waited_for_;  // by block: the last block that waits for it, counted from 1
  std::vector<uint32_t> stamp_;
  std::vector<PrototypeBlock> blocks_;
};

// Drops a `return` at the end; a block of nothing else is empty.
void DropReturns(const ir::Module& module, std::vector<PrototypeBlock>& blocks) {
  for (PrototypeBlock& block : blocks) {
    if (!block.ops.empty() && module.name(block.ops.back()).find("return") != std::string_view::npos)
      block.ops.pop_back();
    block.empty = block.ops.empty();
  }
}

// Kahn by generations, in node order and adjacency order (networkx.topological_sort).
std::vector<uint32_t> TraceOrder(const std::vector<PrototypeBlock>& blocks) {
  std::vector<uint32_t> waiting(blocks.size(), 0);
  for (const PrototypeBlock& block : blocks) {
    if (block.empty) continue;
    for (const uint32_t s : block.successors) ++waiting[s];
  }
  std::vector<uint32_t> order;
  order.reserve(blocks.size());
  for (uint32_t i = 0; i < blocks.size(); ++i) {
    if (!blocks[i].empty && waiting[i] == 0) order.push_back(i);
  }
  for (size_t at = 0; at < order.size(); ++at) {
    for (const uint32_t s : blocks[order[at]].successors) {
      if (--waiting[s] == 0 && !blocks[s].empty) order.push_back(s);
    }
  }
  return order;
}

// The interface of the prototype's block modules: results are those that no later op of the block uses, last op first.
void FillInterface(const ir::Module& module, std::vector<uint32_t>& seen, uint32_t epoch, graph::Block& block) {
  for (const ir::OpId op : block.ops) {
    for (const ir::ValueId use : module.operands(op)) {
      if (seen[use.index()] == epoch) continue;
      seen[use.index()] = epoch;
      block.inputs.push_back(use);
    }
    for (const ir::ValueId result : module.results(op)) seen[result.index()] = epoch;
  }
  for (size_t i = block.ops.size(); i-- > 0;) {
    for (const ir::ValueId result : module.results(block.ops[i])) {
      if (seen[result.index()] == epoch) block.outputs.push_back(result);
    }
    for (const ir::ValueId use : module.operands(block.ops[i])) seen[use.index()] = 0;
  }
}

}  // namespace

Result<PrototypeGraph> SplitAsPrototype(const ir::Module& module, const Options& options) {
  const auto program = ReadProgram(module);
  if (!program) return program.error();
  PrototypeGraph graph;
  graph.blocks =
      options.strategy == Strategy::kLinear ? Linear(module, *program, options) : Individual(module, *program).Run();
  if (options.merge && options.strategy == Strategy::kIndividual)
    graph.blocks = MergeAsPrototype(std::move(graph.blocks));
  if (graph.blocks.empty()) {
    return MakeError(kNothingToSplit, "`main` has no operation to put into a block", {.file = module.path()});
  }
  DropReturns(module, graph.blocks);
  graph.trace_order = TraceOrder(graph.blocks);
  return graph;
}

graph::BlockGraph InTraceOrder(const ir::Module& module, const PrototypeGraph& prototype) {
  graph::BlockGraph graph{.module = &module};
  graph.blocks.reserve(prototype.trace_order.size());
  std::vector<uint32_t> new_id(prototype.blocks.size(), kUnset);
  for (uint32_t i = 0; i < prototype.trace_order.size(); ++i) new_id[prototype.trace_order[i]] = i;
  StructureHasher hasher(module, true);
  std::vector<uint32_t> seen(module.value_count(), 0);
  for (uint32_t i = 0; i < prototype.trace_order.size(); ++i) {
    const PrototypeBlock& from = prototype.blocks[prototype.trace_order[i]];
    graph::Block block{.kind = from.kind, .ops = from.ops};
    for (const uint32_t p : from.predecessors) {
      if (new_id[p] != kUnset) block.predecessors.push_back(graph::BlockId(size_t{new_id[p]}));
    }
    FillInterface(module, seen, i + 1, block);
    if (block.kind == BlockKind::kCompute) block.hash = hasher.Block(block.ops);
    graph.blocks.push_back(std::move(block));
  }
  return graph;
}

Result<graph::BlockGraph> SplitInTraceOrder(const ir::Module& module, const Options& options, Diagnostics&) {
  const auto prototype = SplitAsPrototype(module, options);
  if (!prototype) return prototype.error();
  return InTraceOrder(module, *prototype);
}

}  // namespace hespas::split
