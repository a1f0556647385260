#include "split/split.h"

#include <fmt/format.h>

#include <set>

#include "ir/attributes/attribute.h"
#include "ir/walk.h"
#include "split/program.h"
#include "split/prototype.h"
#include "split/schedule.h"
#include "split/strategies.h"
#include "split/structure_hash.h"

namespace hespas::split {
namespace {

using graph::BlockKind;

// Values that are used outside of the block that makes them, or returned.
std::vector<bool> UsedOutside(const ir::Module& module, const Program& program, const Schedule& schedule,
                              const graph::BlockGraph& graph) {
  std::vector<bool> outside = schedule.returned_results;
  std::vector<uint32_t> holder(program.ops.size(), Program::kNowhere);  // last block seen that holds the op
  for (uint32_t b = 0; b < graph.blocks.size(); ++b) {
    for (const ir::OpId op : graph.blocks[b].ops) holder[program.position[op.index()]] = b;
    for (const ir::OpId op : graph.blocks[b].ops) {
      for (const ir::ValueId use : program.uses(program.position[op.index()])) {
        const uint32_t producer = program.producer(module, use);
        if (producer != Program::kNowhere && holder[producer] != b) outside[use.index()] = true;
      }
    }
  }
  return outside;
}

void FillInterfaces(const ir::Module& module, const Program& program, const Schedule& schedule,
                    graph::BlockGraph& graph) {
  std::vector<bool> outside = UsedOutside(module, program, schedule, graph);
  std::vector<uint32_t> seen(module.value_count(), 0);
  for (uint32_t b = 0; b < graph.blocks.size(); ++b) {
    graph::Block& block = graph.blocks[b];
    const uint32_t epoch = b + 1;
    for (const ir::OpId op : block.ops) {
      for (const ir::ValueId use : program.uses(program.position[op.index()])) {
        if (seen[use.index()] == epoch) continue;
        seen[use.index()] = epoch;
        block.inputs.push_back(use);
      }
      for (const ir::ValueId result : module.results(op)) {
        seen[result.index()] = epoch;
        if (!outside[result.index()]) continue;
        block.outputs.push_back(result);
        // Of a copied constant the first copy serves those outside.
        if (IsCopyable(module, op)) outside[result.index()] = false;
      }
    }
  }
}

void FillHashes(const ir::Module& module, bool callee_names, graph::BlockGraph& graph) {
  StructureHasher hasher(module, callee_names);
  for (graph::Block& block : graph.blocks) {
    if (block.kind == BlockKind::kCompute) block.hash = hasher.Block(block.ops);
  }
}

// Collectives that no block shows to the network, because they are deeper than in `main`.
void WarnOfHiddenCollectives(const ir::Module& module, const Program& program, const Schedule& schedule,
                             Diagnostics& diagnostics) {
  std::set<ir::OpId> hidden;
  std::vector<bool> visited(module.op_count(), false);
  std::vector<ir::OpId> todo;
  std::vector<bool> seen(program.ops.size(), false);
  for (const uint32_t position : schedule.position) {
    const ir::OpId op = program.ops[position];
    const bool simple = !module.op(op).first_region.valid() && ir::Traits(module.kind(op)).sort != ir::OpSort::kCall;
    if (!simple && !seen[position] && !IsCommunication(module, op)) todo.push_back(op);
    seen[position] = true;
  }
  while (!todo.empty()) {
    const ir::OpId op = todo.back();
    todo.pop_back();
    const auto visit = [&](ir::OpId inner) {
      if (const ir::OpId collective = CollectiveOf(module, inner); collective.valid()) hidden.insert(collective);
      if (ir::Traits(module.kind(inner)).sort != ir::OpSort::kCall) return;
      const std::string_view* callee = module.attribute(inner, "callee");
      if (callee == nullptr) return;
      const ir::OpId function = module.FindSymbol(ir::AsSymbol(*callee));
      if (!function.valid() || visited[function.index()]) return;
      visited[function.index()] = true;
      todo.push_back(function);
    };
    visit(op);
    ir::WalkNested(module, op, visit);
  }
  if (hidden.empty()) return;
  diagnostics.Warning(kHiddenCollective,
                      fmt::format("{} collective{} inside calls, loops or branches {} not simulated on the network",
                                  hidden.size(), hidden.size() == 1 ? "" : "s", hidden.size() == 1 ? "is" : "are"),
                      module.location(*hidden.begin()));
}

}  // namespace

Result<graph::BlockGraph> Split(const ir::Module& module, const Options& options, Diagnostics& diagnostics) {
  if (options.compat) return SplitInTraceOrder(module, options, diagnostics);
  auto program = ReadProgram(module);
  if (!program) return program.error();
  const bool whole_loops = options.strategy == Strategy::kLinear || options.merge;
  const Schedule schedule = whole_loops ? MakeSchedule(module, *program, 0, 0)
                                        : MakeSchedule(module, *program, options.loop_window, kShortWindow);
  if (options.loop_window == 0 && !schedule.loops.empty()) {
    diagnostics.Warning(kIterationsLeftOut, "a few iterations of long loops represent all of them",
                        {.file = module.path()});
  }
  WarnOfHiddenCollectives(module, *program, schedule, diagnostics);
  graph::BlockGraph graph{.module = &module};
  graph.blocks = options.strategy == Strategy::kLinear ? SplitLinear(module, *program, schedule, options)
                                                       : SplitIndividual(module, *program, schedule, graph.loops);
  if (options.merge && options.strategy == Strategy::kIndividual) {
    graph.blocks = MergeBlocks(module, std::move(graph.blocks));
  }
  FillInterfaces(module, *program, schedule, graph);
  FillHashes(module, false, graph);
  return graph;
}

}  // namespace hespas::split
