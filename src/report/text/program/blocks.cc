#include "report/text/program/blocks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "report/text/unit_column.h"

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

Table OpTable(const std::vector<result::OpSummary>& ops, bool human) {
  UnitColumn names{.column = {"op"}, .cells = {}};
  UnitColumn counts{.column = {"count", Align::kRight}, .cells = {}};
  std::vector<Time> times;
  std::vector<Flops> flops;
  std::vector<Bytes> bytes;
  const auto add = [&](const result::OpSummary& op) {
    names.cells.push_back(op.name);
    counts.cells.push_back(std::to_string(op.count));
    times.push_back(op.time);
    flops.push_back(op.flops);
    bytes.push_back(op.bytes);
  };
  result::OpSummary total{.name = "total"};
  for (const result::OpSummary& op : ops) {
    add(op);
    total.count += op.count;
    total.time += op.time;
    total.flops += op.flops;
    total.bytes += op.bytes;
  }
  if (human) add(total);
  Table table;
  AddColumn(table, std::move(names));
  AddColumn(table, std::move(counts));
  if (human) {
    AddColumn(table, TimeColumn("time", times));
    AddColumn(table, FlopsColumn("work", flops));
    AddColumn(table, BytesColumn("bytes", bytes));
    return table;
  }
  UnitColumn columns[3] = {
      {{"time_s", Align::kRight}, {}}, {{"flops", Align::kRight}, {}}, {{"bytes", Align::kRight}, {}}};
  for (size_t i = 0; i < times.size(); ++i) {
    columns[0].cells.push_back(fmt::format("{}", times[i].seconds()));
    columns[1].cells.push_back(std::to_string(flops[i].value));
    columns[2].cells.push_back(std::to_string(bytes[i].value));
  }
  for (UnitColumn& column : columns) AddColumn(table, std::move(column));
  return table;
}

}  // namespace hespas::report
