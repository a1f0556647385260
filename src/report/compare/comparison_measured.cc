// A predicted step against a measured one.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>

#include "report/compare/comparison.h"
#include "report/step/kernel_kind.h"

namespace hespas::report {
namespace {

using trace::MeasuredOp;
using trace::MeasuredStep;

// What each operation adds to the step, and what is left idle.
struct MeasuredAccount {
  std::vector<Time> time;
  Time compute;
  Time exposed;
  Time idle;
};

// Of operations that run at a moment the one that counts comes first: computation before communication, then the one
// whose lane has been busy longest, and in it the innermost.
struct Priority {
  bool communication;
  Time lane_start;
  uint32_t lane;
  int64_t inner;  // minus the number of the operation: an inner one is behind its parent
  auto operator<=>(const Priority&) const = default;
};

MeasuredAccount AccountOf(const MeasuredStep& step) {
  struct Edge {
    Time at;
    bool begins;
    uint32_t op;
  };
  MeasuredAccount out{.time = std::vector<Time>(step.ops.size())};
  std::vector<Edge> edges;
  std::vector<Priority> priority(step.ops.size());
  for (uint32_t i = 0; i < step.ops.size(); ++i) {
    const MeasuredOp& op = step.ops[i];
    uint32_t outermost = i;
    while (step.ops[outermost].parent != MeasuredOp::kNoParent) outermost = step.ops[outermost].parent;
    priority[i] = {op.communication, step.ops[outermost].start, op.lane, -int64_t{i}};
    if (op.end <= op.start) continue;
    edges.push_back({op.start, true, i});
    edges.push_back({op.end, false, i});
  }
  std::sort(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) { return a.at < b.at; });
  std::set<std::pair<Priority, uint32_t>> running;
  Time from;
  for (const Edge& edge : edges) {
    const Time passed = edge.at - from;
    if (!running.empty()) {
      const uint32_t counts = running.begin()->second;
      out.time[counts] += passed;
      (step.ops[counts].communication ? out.exposed : out.compute) += passed;
    }
    from = edge.at;
    if (edge.begins) {
      running.emplace(priority[edge.op], edge.op);
    } else {
      running.erase({priority[edge.op], edge.op});
    }
  }
  out.idle = step.length - out.compute - out.exposed;
  return out;
}

// One thing of a side that looks for a partner.
struct Item {
  std::string name;       // instruction
  std::string framework;  // or ""
  std::string op;         // what to call it
  std::string kind;
  std::string shapes;
  std::string bound;
  Time time;
  int64_t number = 0;  // block
  bool taken = false;
};

std::vector<Item> PredictedItems(const result::BlockTimes& times) {
  std::vector<Item> items;
  for (size_t i = 0; i < times.blocks.size(); ++i) {
    const result::BlockTime& block = times.blocks[i];
    const result::BlockStructure& structure = times.structures[block.structure];
    if (block.time == Time()) continue;  // takes no kernel
    const std::string& name = times.names[block.name];
    items.push_back({.name = name,
                     .framework = name,
                     .op = structure.op,
                     .kind = structure.kind,
                     .shapes = structure.shapes,
                     .bound = structure.bound,
                     .time = block.time,
                     .number = static_cast<int64_t>(i)});
  }
  return items;
}

// An operation inside one that the prediction knows by name belongs to that one.
std::vector<Item> MeasuredItems(const MeasuredStep& step, const MeasuredAccount& account,
                                const std::set<std::string_view>& known) {
  std::vector<Item> items;
  std::vector<size_t> item_of(step.ops.size());
  for (uint32_t i = 0; i < step.ops.size(); ++i) {
    const MeasuredOp& op = step.ops[i];
    const uint32_t parent = op.parent;
    if (parent != MeasuredOp::kNoParent && known.contains(items[item_of[parent]].name)) {
      item_of[i] = item_of[parent];
      items[item_of[i]].time += account.time[i];
      continue;
    }
    item_of[i] = items.size();
    items.push_back({.name = op.name,
                     .framework = op.framework,
                     .op = op.name,
                     .kind = std::string(KindOfKernel(op.name, op.framework)),
                     .shapes = {},
                     .bound = {},
                     .time = account.time[i],
                     .number = i});
  }
  return items;
}

class Pairing {
 public:
  Pairing(std::vector<Item> predicted, std::vector<Item> measured, std::vector<ComparedRow>& rows)
      : sides_{std::move(predicted), std::move(measured)}, rows_(rows) {}

  void Pair() {
    ByText("name", &Item::name, true);
    ByText("framework name", &Item::framework, true);
    ByOrder();
    ByText("kind", &Item::kind, false);
  }

 private:
  using Members = std::array<std::vector<Item*>, 2>;

  std::map<std::string, Members> Left(std::string Item::*text) {
    std::map<std::string, Members> left;
    for (size_t side = 0; side < 2; ++side) {
      for (Item& item : sides_[side]) {
        if (!item.taken && !(item.*text).empty()) left[item.*text][side].push_back(&item);
      }
    }
    return left;
  }

  void ByText(const char* how, std::string Item::*text, bool both) {
    for (auto& [value, members] : Left(text)) {
      if (both && (members[0].empty() || members[1].empty())) continue;
      Join(fmt::format("{}: {}", how, value), members);
      if (text == &Item::kind) rows_.back().op = value;
    }
  }

  // The n-th of a kind with the n-th, where both sides have as many.
  void ByOrder() {
    for (auto& [kind, members] : Left(&Item::kind)) {
      if (members[0].size() != members[1].size()) continue;
      for (size_t i = 0; i < members[0].size(); ++i) {
        Join(fmt::format("order: {} {}", kind, i), {{{members[0][i]}, {members[1][i]}}});
      }
    }
  }

  void Join(std::string key, const Members& members) {
    ComparedRow row{
        .key = std::move(key), .block = {-1, -1}, .count = {0, 0}, .time = {Time(), Time()}, .bound = {"", ""}};
    for (size_t side = 0; side < 2; ++side) {
      for (Item* item : members[side]) {
        item->taken = true;
        row.time[side] += item->time;
        ++row.count[side];
      }
      if (members[side].size() == 1 && side == 0) row.block[0] = members[0][0]->number;
      if (members[side].empty() || !row.op.empty()) continue;
      const Item& first = *members[side].front();
      row.op = first.op;
      row.kind = first.kind;
      row.shapes = first.shapes;
    }
    // What measured operations are called is what one looks for in the profiler.
    if (members[1].size() == 1 && !members[1][0]->name.empty()) row.op = members[1][0]->name;
    if (!members[0].empty()) row.bound[0] = members[0][0]->bound;
    row.bound[1] = row.bound[0];
    rows_.push_back(std::move(row));
  }

  std::array<std::vector<Item>, 2> sides_;
  std::vector<ComparedRow>& rows_;
};

result::RunResult ResultOf(const MeasuredStep& step, const MeasuredAccount& account) {
  result::RunResult out;
  out.device = step.device;
  out.npus = static_cast<int64_t>(step.devices);
  out.estimator = step.profiler;
  out.step_time = step.length;
  out.compute_time = account.compute;
  out.exposed_communication = account.exposed;
  out.idle = account.idle;
  return out;
}

// "The measured step takes 61.2 ms, 8.3 ms (15.7 %) more than predicted: matmul +5.1 ms, idle +2.0 ms."
std::string Answer(const Comparison& comparison) {
  constexpr size_t kNamed = 4;
  const Time predicted = comparison.results[0].step_time;
  const Time measured = comparison.results[1].step_time;
  const Time change = measured - predicted;
  const bool more = change >= Time();
  std::vector<std::string> causes;
  for (const ComparedRow& row : comparison.kinds) {
    const Time part = row.time[1] - row.time[0];
    if (causes.size() == kNamed || part == Time()) break;
    causes.push_back(fmt::format("{} {}{}", row.op, part > Time() ? "+" : "", HumanTime(part)));
  }
  const double share =
      predicted.value > 0 ? 100.0 * static_cast<double>(change.value) / static_cast<double>(predicted.value) : 0;
  return fmt::format("The measured step takes {}, {} ({:.1f} %) {} than predicted{}{}.", HumanTime(measured),
                     HumanTime(more ? change : predicted - measured), std::abs(share), more ? "more" : "less",
                     causes.empty() ? "" : ": ", fmt::join(causes, ", "));
}

// How much of the measured time found its block, and how.
std::string Matched(const Comparison& comparison) {
  Time by[3];  // name, order, kind alone
  for (const ComparedRow& row : comparison.rows) {
    const bool order = row.key.starts_with("order");
    by[row.key.starts_with("kind") ? 2 : order ? 1 : 0] += row.key == "idle" ? Time() : row.time[1];
  }
  const Time all = by[0] + by[1] + by[2];
  const auto share = [&](Time part) {
    return HumanPercent(all.value > 0 ? static_cast<double>(part.value) / static_cast<double>(all.value) : 0);
  };
  return fmt::format("Of the measured time of operations {} matches by name, {} by kind and order, {} by kind alone.",
                     share(by[0]), share(by[1]), share(by[2]));
}

}  // namespace

Comparison CompareMeasured(const result::RunResult& predicted, const MeasuredStep& measured) {
  const MeasuredAccount account = AccountOf(measured);
  std::vector<Item> items = PredictedItems(*predicted.block_times);
  std::set<std::string_view> known;
  for (const Item& item : items) {
    if (!item.name.empty()) known.insert(item.name);
  }
  std::vector<Item> seen = MeasuredItems(measured, account, known);
  Comparison out{.dimension = "measurement",
                 .title = "predicted and measured",
                 .labels = {"predicted", "measured"},
                 .results = {predicted, ResultOf(measured, account)}};
  Pairing(std::move(items), std::move(seen), out.rows).Pair();
  out.rows.push_back({.op = "idle",
                      .kind = "idle",
                      .shapes = {},
                      .key = "idle",
                      .block = {-1, -1},
                      .count = {1, 1},
                      .time = {predicted.block_times->idle, account.idle},
                      .bound = {"", ""}});
  FinishComparison(out);
  out.notes = {Answer(out), Matched(out),
               fmt::format("Measured by {} on {}{}: step {} of {}, the median.", measured.profiler,
                           measured.device.empty() ? "its device" : measured.device,
                           measured.devices > 1 ? fmt::format(", the busiest of {} devices", measured.devices) : "",
                           measured.index + 1, measured.steps)};
  return out;
}

}  // namespace hespas::report
