// What report.html knows: the run, blocks by column, collectives, intervals of each rank class, memory, critical path.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <span>

#include "base/line_index.h"
#include "base/text/json.h"
#include "report/page/columns.h"
#include "report/page/graph_data.h"
#include "report/page/page.h"
#include "report/step/account.h"
#include "report/step/critical_path.h"
#include "report/step/kernel_name.h"
#include "report/step/op_labels.h"
#include "report/step/scope_path.h"
#include "report/text/collectives.h"
#include "report/text/run_report.h"

namespace hespas::report {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMostIntervals = 60'000;  // of all rank classes; the timeline file holds the others
constexpr size_t kMostLines = 2'000;
constexpr size_t kLongestLine = 400;
constexpr size_t kMostPathSteps = 2'000;

std::string Dump(const Json& json) { return JsonText(json); }

class DataWriter {
 public:
  explicit DataWriter(const PageInput& input) : in_(input), step_(input.step), module_(*step_.blocks.module) {}

  std::string Write() {
    result::RunResult run = in_.result;
    run.block_times.reset();  // the page has columns of its own
    Add("run", ToJson(run, -1));
    Add("device", Dump(Device()));
    Add("distinct", Distinct());
    Add("blocks", Blocks());
    Add("source", Dump(Source()));
    Add("graph", GraphData(step_, strings_));
    if (step_.simulated != nullptr) {
      Add("collectives", Dump(Collectives()));
      Add("timeline", Timeline());
    }
    if (in_.result.block_times) Add("scopes", Dump(Scopes(*in_.result.block_times)));
    Add("path", Dump(Path()));
    if (in_.result.memory && !in_.result.memory->layers.empty()) Add("layers", Layers(*in_.result.memory));
    if (!in_.live.empty()) Add("live", in_.live);
    Add("strings", Dump(strings_.all()));
    return "{\"schema_version\":1," + text_.substr(1) + "}";
  }

 private:
  void Add(std::string_view key, const std::string& value) { text_ += fmt::format(",\"{}\":{}", key, value); }

  // What layers hold, as changes in order of time.
  static std::string Layers(const result::MemoryCurve& memory) {
    NumberColumn at, layer, bytes;
    for (const result::LayerChange& change : memory.layer_changes) {
      at.Add(change.at.value);
      layer.Add(change.layer);
      bytes.Add(change.bytes.value);
    }
    return fmt::format(R"({{"names":{},"at":{},"layer":{},"bytes":{}}})", Dump(memory.layers), at.text(), layer.text(),
                       bytes.text());
  }

  Json Device() const {
    const hardware::Device& device = in_.device;
    Json rates = Json::object();
    for (const auto& [name, rate] : device.per_datatype_flops) rates[name] = device.MatrixRateFor(name).value;
    return {{"name", device.name},
            {"description", device.description},
            {"peak_flops", device.peak_flops.value},
            {"rates", rates},
            {"memory_bandwidth", device.memory_bandwidth.value},
            {"memory_capacity", device.memory_capacity ? Json(device.memory_capacity->value) : Json(nullptr)},
            {"source", std::string(device.SourceOf("memory_bandwidth"))}};
  }

  std::string Distinct() {
    NumberColumn kind, name, shapes, time, sigma, flops, bytes, bound, ops, terms;
    const graph::EstimateTable& table = step_.estimates;
    for (size_t i = 0; i < table.unique.size(); ++i) {
      const graph::Estimate& estimate = table.unique[i];
      const graph::Block& block = step_.blocks.blocks[table.first[i].index()];
      const ir::OpId op = CostliestOp(step_, i);
      kind.Add(strings_.Of(KindLabel(module_, op)));
      name.Add(strings_.Of(ContentName(module_, op)));
      shapes.Add(strings_.Of(Shapes(step_.blocks, block)));
      time.Add(estimate.time.value);
      sigma.Add(estimate.sigma.value);
      flops.Add(estimate.flops.value);
      bytes.Add(estimate.bytes.value);
      bound.Add(strings_.Of(graph::BoundName(estimate.bound)));
      ops.Add(block.ops.size());
      NumberColumn parts;
      for (const graph::Term& term : estimate.terms) {
        parts.Add(strings_.Of(term.name));
        parts.Add(term.time.value);
      }
      terms.Add(parts.text());
    }
    return fmt::format(
        R"({{"kind":{},"name":{},"shapes":{},"time":{},"sigma":{},"flops":{},"bytes":{},"bound":{},"ops":{},"terms":{}}})",
        kind.text(), name.text(), shapes.text(), time.text(), sigma.text(), flops.text(), bytes.text(), bound.text(),
        ops.text(), terms.text());
  }

  std::string Blocks() {
    const LineIndex lines(module_.source());
    const KernelNames names(step_);
    NumberColumn id, distinct, line, layer;
    for (uint32_t i = 0; i < step_.blocks.blocks.size(); ++i) {
      if (step_.estimates.of_block[i] == graph::EstimateTable::kNone) continue;
      const graph::Block& block = step_.blocks.blocks[i];
      id.Add(i);
      distinct.Add(step_.estimates.of_block[i]);
      line.Add(lines.Line(module_.op(block.ops.back()).source));
      layer.Add(strings_.Of(ScopePath(FrameworkName(module_, block.ops[names.LongestOp(i)]))));
    }
    return fmt::format(R"({{"id":{},"distinct":{},"line":{},"layer":{}}})", id.text(), distinct.text(), line.text(),
                       layer.text());
  }

  // Texts of the lines that the first of equal blocks comes from.
  Json Source() const {
    const std::string_view text = module_.source();
    const LineIndex lines(text);
    Json rows = Json::object();
    for (const graph::BlockId first : step_.estimates.first) {
      const uint32_t at = module_.op(step_.blocks.blocks[first.index()].ops.back()).source;
      const std::string line = std::to_string(lines.Line(at));
      if (at >= text.size() || rows.size() >= kMostLines || rows.contains(line)) continue;
      const size_t begin = text.find_first_not_of(" \t", text.rfind('\n', at) + 1);
      rows[line] = text.substr(begin, std::min(text.find('\n', at) - begin, kLongestLine));
    }
    return rows;
  }

  Json Collectives() const {
    Json rows = Json::array();
    for (const CollectiveRow& row : CollectiveRows(step_, in_.system)) {
      const auto ps = [&](uint64_t ticks) { return step_.simulated->time(ticks).value; };
      rows.push_back({{"op", row.op},
                      {"block", row.block},
                      {"algorithm", row.algorithm},
                      {"model", row.use->model},
                      {"levels", row.use->levels},
                      {"bound", row.use->bound},
                      {"members", row.use->members},
                      {"bytes", row.use->bytes},
                      {"start", ps(row.use->start)},
                      {"time", ps(row.use->end - row.use->start)},
                      {"exposed", ps(row.use->exposed)},
                      {"waited", ps(row.use->waited)},
                      {"bandwidth", row.bandwidth}});
    }
    return rows;
  }

  // The intervals of the first simulated rank of each class, as gap and duration behind each other.
  std::string Timeline() const {
    const NodeIndex nodes(step_.traces);
    std::map<uint32_t, uint32_t> shown;  // class -> rank
    std::map<uint32_t, size_t> members;
    for (const result::NodeInterval& interval : step_.simulated->intervals) {
      shown.try_emplace(step_.traces.program_of_rank[interval.rank], interval.rank);
    }
    for (const uint32_t program : step_.traces.program_of_rank) ++members[program];
    std::map<uint32_t, std::vector<const result::NodeInterval*>> by_rank;
    for (const auto& [program, rank] : shown) by_rank[rank];
    for (const result::NodeInterval& interval : step_.simulated->intervals) {
      const auto found = by_rank.find(interval.rank);
      if (found != by_rank.end()) found->second.push_back(&interval);
    }
    std::string out;
    size_t written = 0;
    size_t left_out = 0;
    for (auto& [rank, intervals] : by_rank) {
      if (written > 0 && written + intervals.size() > kMostIntervals) {
        ++left_out;
        continue;
      }
      written += intervals.size();
      std::stable_sort(intervals.begin(), intervals.end(), [](auto* a, auto* b) { return a->start < b->start; });
      out += out.empty() ? "" : ",";
      out += RankClass(rank, members[step_.traces.program_of_rank[rank]], intervals, nodes);
    }
    return fmt::format(R"({{"classes":[{}],"left_out":{}}})", out, left_out);
  }

  std::string RankClass(uint32_t rank, size_t members, std::span<const result::NodeInterval* const> intervals,
                        const NodeIndex& nodes) const {
    NumberColumn columns[2][3];
    uint64_t ends[2] = {0, 0};
    for (const result::NodeInterval* interval : intervals) {
      if (interval->start == interval->end) continue;
      const trace::Node& node = nodes.at(rank, interval->node);
      const size_t lane = node.kind == trace::NodeKind::kCompute ? 0 : 1;
      columns[lane][0].Add(step_.simulated->time(interval->start).value - step_.simulated->time(ends[lane]).value);
      columns[lane][1].Add(step_.simulated->time(interval->end - interval->start).value);
      columns[lane][2].Add(node.block);
      ends[lane] = interval->end;
    }
    std::string lanes;
    for (size_t lane = 0; lane < 2; ++lane) {
      lanes += fmt::format(R"({}"{}":{{"gap":{},"duration":{},"block":{}}})", lane == 0 ? "" : ",",
                           lane == 0 ? "compute" : "communication", columns[lane][0].text(), columns[lane][1].text(),
                           columns[lane][2].text());
    }
    return fmt::format(R"({{"rank":{},"members":{},{}}})", rank, members, lanes);
  }

  // What each kind of operation in each scope takes of the step; equal layers count together.
  Json Scopes(const result::BlockTimes& times) {
    std::map<std::array<std::string, 3>, Time> sums;
    for (const result::BlockTime& block : times.blocks) {
      const result::BlockStructure& structure = times.structures[block.structure];
      sums[{AllLayers(times.scopes[block.scope]), structure.kind, structure.bound}] += block.time;
    }
    Json rows = Json::array();
    for (const auto& [row, time] : sums) rows.push_back({row[0], row[1], row[2], time.value});
    return rows;
  }

  Json Path() const {
    Json rows = Json::array();
    std::vector<PathRow> path = CriticalPath(step_);
    if (path.size() > kMostPathSteps) path = Joined(path);
    for (const PathRow& row : path) {
      rows.push_back({row.node, row.rank, row.why, row.start.value, row.duration.value});
    }
    return rows;
  }

  const PageInput& in_;
  const StepView& step_;
  const ir::Module& module_;
  Strings strings_;
  std::string text_;
};

}  // namespace

std::string PageData(const PageInput& input) { return DataWriter(input).Write(); }

}  // namespace hespas::report
