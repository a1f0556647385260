#include "report/compare/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <unordered_map>

#include "report/compare/block_matcher.h"
#include "report/step/scope_path.h"
#include "report/text/efficiency.h"

namespace hespas::report {
namespace {

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
    sum.parts &= row.parts;
    for (size_t side = 0; side < row.time.size(); ++side) {
      sum.time[side] += row.time[side];
      sum.count[side] += row.count[side];
      if (sum.bound[side].empty()) sum.bound[side] = row.bound[side];
    }
  }
  return out;
}

// The n-th layers of a stack do the same work: they count together.
std::vector<ComparedRow> LayersOf(const std::vector<ComparedRow>& rows) {
  std::vector<ComparedRow> out;
  for (ComparedRow row : rows) {
    row.op = row.scope.empty() ? row.kind : AllLayers(row.scope) + " " + row.kind;
    row.shapes.clear();
    row.bound.assign(row.bound.size(), "");
    out.push_back(std::move(row));
  }
  return Joined(out, [](const ComparedRow& row) { return row.op; });
}

void Sort(std::vector<ComparedRow>& rows) {
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a.spread() > b.spread(); });
}

}  // namespace

bool ComparedRow::matched() const {
  return std::all_of(count.begin(), count.end(), [&](int64_t n) { return parts ? n > 0 : n == count[0]; });
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
  BlockMatcher(out).Match();
  FinishComparison(out);
  return out;
}

void FinishComparison(Comparison& comparison) {
  comparison.groups = Joined(comparison.rows, [](const ComparedRow& row) {
    const bool loose = row.key == kByScope || row.key == kByResults || row.key == kByOps || row.key == kByParts;
    return row.key + '\n' + row.op + (loose ? '\n' + row.shapes : "");
  });
  comparison.kinds = Joined(comparison.rows, [](const ComparedRow& row) { return row.kind; });
  for (ComparedRow& row : comparison.kinds) {
    row.op = row.kind;
    row.shapes.clear();
    row.bound.assign(row.bound.size(), "");
  }
  if (std::ranges::any_of(comparison.rows, [](const ComparedRow& row) { return !row.scope.empty(); }))
    comparison.layers = LayersOf(comparison.rows);
  for (auto* rows : {&comparison.rows, &comparison.groups, &comparison.kinds, &comparison.layers}) Sort(*rows);
}

}  // namespace hespas::report
