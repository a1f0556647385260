#include "report/text/comparison.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <unordered_map>

#include "report/text/efficiency.h"

namespace hespas::report {
namespace {

using result::BlockTimes;

constexpr int64_t kAbsent = -1;

ComparedRow EmptyRow(size_t sides) {
  ComparedRow row;
  row.block.assign(sides, kAbsent);
  row.count.assign(sides, 0);
  row.time.resize(sides);
  row.bound.resize(sides);
  return row;
}

class Matcher {
 public:
  explicit Matcher(Comparison& out) : out_(out), sides_(out.results.size()) {}

  void Match() {
    for (size_t side = 0; side < sides_; ++side) AddBlocks(side, *out_.results[side].block_times);
    ComparedRow idle = EmptyRow(sides_);
    idle.op = idle.kind = idle.key = "idle";
    for (size_t side = 0; side < sides_; ++side) {
      idle.time[side] = out_.results[side].block_times->idle;
      idle.count[side] = 1;
    }
    if (std::any_of(idle.time.begin(), idle.time.end(), [](Time t) { return t != Time(); }))
      out_.rows.push_back(std::move(idle));
  }

 private:
  // The n-th block of a structure goes into the n-th row of that structure.
  void AddBlocks(size_t side, const BlockTimes& times) {
    std::unordered_map<uint32_t, size_t> seen;
    for (size_t i = 0; i < times.blocks.size(); ++i) {
      const result::BlockTime& block = times.blocks[i];
      const result::BlockStructure& structure = times.structures[block.structure];
      std::vector<size_t>& rows = rows_[structure.hash];
      const size_t nth = seen[block.structure]++;
      if (nth == rows.size()) {
        rows.push_back(out_.rows.size());
        ComparedRow row = EmptyRow(sides_);
        row.op = structure.op;
        row.kind = structure.kind;
        row.shapes = structure.shapes;
        row.key = structure.hash;
        out_.rows.push_back(std::move(row));
      }
      ComparedRow& row = out_.rows[rows[nth]];
      row.block[side] = static_cast<int64_t>(i);
      row.count[side] = 1;
      row.time[side] = block.time;
      row.bound[side] = structure.bound;
    }
  }

  Comparison& out_;
  size_t sides_;
  std::unordered_map<std::string, std::vector<size_t>> rows_;  // by hash
};

// The rows that `name` calls alike as one.
template <class Name>
std::vector<ComparedRow> Joined(const std::vector<ComparedRow>& rows, const Name& name) {
  std::vector<ComparedRow> out;
  std::unordered_map<std::string, size_t> index;
  for (const ComparedRow& row : rows) {
    const auto [found, added] = index.try_emplace(name(row), out.size());
    if (added) {
      out.push_back(row);
      continue;
    }
    ComparedRow& sum = out[found->second];
    for (size_t side = 0; side < row.time.size(); ++side) {
      sum.time[side] += row.time[side];
      sum.count[side] += row.count[side];
      if (sum.bound[side].empty()) sum.bound[side] = row.bound[side];
    }
  }
  return out;
}

void Sort(std::vector<ComparedRow>& rows) {
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.spread() > b.spread(); });
}

}  // namespace

bool ComparedRow::matched() const {
  return std::all_of(count.begin(), count.end(), [&](int64_t n) { return n == count[0]; });
}

Time ComparedRow::spread() const {
  const auto [least, most] = std::minmax_element(time.begin(), time.end());
  return *most - *least;
}

double Comparison::LargestDifference() const {
  const auto first = static_cast<double>(results[0].step_time.value);
  double largest = 0;
  for (const result::RunResult& r : results) {
    const double difference = std::abs(static_cast<double>(r.step_time.value) - first);
    if (difference > 0) largest = std::max(largest, 100 * difference / std::max(first, 1.0));
  }
  return largest;
}

Comparison Compare(std::string dimension, std::vector<ComparedSide> sides) {
  Comparison out{.dimension = std::move(dimension), .title = {}};
  out.title = "what changes with the " + out.dimension;
  for (ComparedSide& side : sides) {
    out.labels.push_back(std::move(side.label));
    out.results.push_back(std::move(side.result));
  }
  std::vector<WorkOfStep> work;
  for (size_t side = 0; side < out.results.size(); ++side) {
    const result::RunResult& result = out.results[side];
    work.push_back(WorkOf(result));
    for (const std::string& warning : {FitWarning(result), UnknownWarning(result)}) {
      if (!warning.empty()) out.notes.push_back(out.labels[side] + ": " + warning);
    }
  }
  if (const std::string unequal = UnequalWork(work); !unequal.empty()) {
    out.title += " (UNEQUAL WORK)";
    out.notes.insert(out.notes.begin(), unequal);
  }
  Matcher(out).Match();
  FinishComparison(out);
  return out;
}

void FinishComparison(Comparison& comparison) {
  comparison.groups = Joined(comparison.rows, [](const ComparedRow& row) { return row.key + '\n' + row.op; });
  comparison.kinds = Joined(comparison.rows, [](const ComparedRow& row) { return row.kind; });
  for (ComparedRow& row : comparison.kinds) {
    row.op = row.kind;
    row.shapes.clear();
    row.bound.assign(row.bound.size(), "");
  }
  for (auto* rows : {&comparison.rows, &comparison.groups, &comparison.kinds}) Sort(*rows);
}

}  // namespace hespas::report
