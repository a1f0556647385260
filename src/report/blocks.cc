#include "report/blocks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace hespas::report {
namespace {

std::string_view KindName(graph::BlockKind kind) {
  return kind == graph::BlockKind::kCompute ? "compute" : "communication";
}

int64_t OutputBytes(const graph::BlockGraph& blocks, const graph::Block& block) {
  int64_t bytes = 0;
  for (const ir::ValueId value : block.outputs) {
    bytes += ir::ByteSize(blocks.module->types(), blocks.module->type_id(value));
  }
  return bytes;
}

std::string Predecessors(const graph::Block& block) {
  std::vector<uint32_t> ids;
  for (const graph::BlockId id : block.predecessors) ids.push_back(id.value);
  return fmt::format("{}", fmt::join(ids, " "));
}

std::string Label(const graph::BlockGraph& blocks, size_t i) {
  const graph::Block& block = blocks.blocks[i];
  const std::string_view last = block.ops.empty() ? "" : blocks.module->name(block.ops.back());
  return block.ops.size() == 1 ? fmt::format("{}: {}", i, last)
                               : fmt::format("{}: {} ops, {}", i, block.ops.size(), last);
}

}  // namespace

Table BlockTable(const graph::BlockGraph& blocks) {
  Table table{.columns = {{"block", Align::kRight},
                          {"kind"},
                          {"ops", Align::kRight},
                          {"last op"},
                          {"output bytes", Align::kRight},
                          {"predecessors"}},
              .rows = {}};
  for (size_t i = 0; i < blocks.blocks.size(); ++i) {
    const graph::Block& block = blocks.blocks[i];
    const std::string_view last = block.ops.empty() ? "" : blocks.module->name(block.ops.back());
    table.rows.push_back({std::to_string(i), std::string(KindName(block.kind)), std::to_string(block.ops.size()),
                          std::string(last), std::to_string(OutputBytes(blocks, block)), Predecessors(block)});
  }
  return table;
}

std::string ToDot(const graph::BlockGraph& blocks) {
  std::string out = "digraph blocks {\n  node [shape=box, style=filled];\n";
  for (size_t i = 0; i < blocks.blocks.size(); ++i) {
    const bool compute = blocks.blocks[i].kind == graph::BlockKind::kCompute;
    out += fmt::format("  {} [label=\"{}\", fillcolor={}];\n", i, Label(blocks, i), compute ? "lightblue" : "orange");
    for (const graph::BlockId from : blocks.blocks[i].predecessors) out += fmt::format("  {} -> {};\n", from.value, i);
  }
  return out + "}\n";
}

Table OpTable(const std::vector<result::OpSummary>& ops, bool human) {
  Table table{.columns = {{"op"},
                          {"count", Align::kRight},
                          {human ? "time" : "time_s", Align::kRight},
                          {"flops", Align::kRight},
                          {"bytes", Align::kRight}},
              .rows = {}};
  result::OpSummary total{.name = "total"};
  const auto add = [&](const result::OpSummary& op) {
    table.rows.push_back({op.name, std::to_string(op.count),
                          human ? HumanTime(op.time) : fmt::format("{}", op.time.seconds()),
                          human ? HumanFlops(op.flops) : std::to_string(op.flops.value),
                          human ? HumanBytes(op.bytes) : std::to_string(op.bytes.value)});
    total.count += op.count;
    total.time += op.time;
    total.flops += op.flops;
    total.bytes += op.bytes;
  };
  for (const result::OpSummary& op : ops) add(op);
  if (human) add(result::OpSummary(total));
  return table;
}

}  // namespace hespas::report
