#include "report/compare/block_matcher.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string_view>

#include "report/compare/written_arrays.h"

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

bool IsKernel(const ComparedRow& row) {
  return row.op.starts_with("fusion of") || row.op.find("custom_call") != std::string::npos;
}

// A kernel may hold other operations on the other side, and a collective may run apart from what waits for it; an
// operation of its own is the same or another one.
std::string SortOf(const ComparedRow& row) {
  const bool apart = row.op.ends_with("async_start") || row.op.ends_with(row.kind);
  return (IsKernel(row) ? "kernel" : apart ? row.kind : row.op) + '\n';
}

bool AreApart(const ComparedRow& a, const ComparedRow& b) {
  for (size_t side = 0; side < a.count.size(); ++side) {
    if (a.count[side] > 0 && b.count[side] > 0) return false;
  }
  return true;
}

// Of two lists in increasing order: of equal numbers the n-th takes the n-th, else each of the shorter one the nearest
// of the longer one behind the last taken, as far as that leaves enough for the others.
std::vector<std::pair<size_t, size_t>> Nearest(const std::vector<double>& few, const std::vector<double>& many) {
  std::vector<std::pair<size_t, size_t>> pairs;
  size_t next = 0;
  for (size_t i = 0; i < few.size(); ++i) {
    const size_t last = many.size() - (few.size() - i);
    while (next < last && std::abs(many[next + 1] - few[i]) < std::abs(many[next] - few[i])) ++next;
    pairs.emplace_back(i, next++);
  }
  return pairs;
}

}  // namespace

void BlockMatcher::Match() {
  for (size_t side = 0; side < sides_; ++side) AddBlocks(side, *out_.results[side].block_times);
  gone_.assign(out_.rows.size(), 0);
  if (KnowsOps()) MatchOps();
  MatchTexts();
  JoinParts();
  EraseGone();
  AddIdle();
}

// The n-th block of a structure goes into the n-th row of that structure.
void BlockMatcher::AddBlocks(size_t side, const BlockTimes& times) {
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
      if (block.scope < times.scopes.size()) row.scope = times.scopes[block.scope];
      out_.rows.push_back(std::move(row));
    }
    ComparedRow& row = out_.rows[rows[nth]];
    row.block[side] = static_cast<int64_t>(i);
    row.count[side] = 1;
    row.time[side] = block.time;
    row.bound[side] = structure.bound;
  }
}

void BlockMatcher::AddIdle() {
  ComparedRow idle = EmptyRow(sides_);
  idle.op = idle.kind = idle.key = "idle";
  for (size_t side = 0; side < sides_; ++side) {
    idle.time[side] = out_.results[side].block_times->idle;
    idle.count[side] = 1;
  }
  if (std::any_of(idle.time.begin(), idle.time.end(), [](Time t) { return t != Time(); }))
    out_.rows.push_back(std::move(idle));
}

bool BlockMatcher::KnowsOps() const {
  return std::all_of(out_.results.begin(), out_.results.end(), [&](const result::RunResult& r) {
    return r.program.sha256 == out_.results[0].program.sha256 &&
           r.block_times->ops.size() == r.block_times->blocks.size();
  });
}

size_t BlockMatcher::SideOf(const ComparedRow& row) const {
  return static_cast<size_t>(std::find_if(row.count.begin(), row.count.end(), [](int64_t n) { return n > 0; }) -
                             row.count.begin());
}

const std::vector<uint32_t>& BlockMatcher::OpsOf(size_t side, const ComparedRow& row) const {
  return out_.results[side].block_times->ops[static_cast<size_t>(row.block[side])];
}

const std::string& BlockMatcher::ShapesOf(size_t side, const ComparedRow& row) const {
  const BlockTimes& times = *out_.results[side].block_times;
  return times.structures[times.blocks[static_cast<size_t>(row.block[side])].structure].shapes;
}

double BlockMatcher::PlaceOf(size_t side, const ComparedRow& row) const {
  return static_cast<double>(row.block[side]) / static_cast<double>(out_.results[side].block_times->blocks.size());
}

// One program's operations say what is the same: first the one that a kernel is about, then most of them.
void BlockMatcher::MatchOps() {
  MatchBy(kByOps, [&](const ComparedRow& row) {
    const std::vector<uint32_t>& ops = OpsOf(SideOf(row), row);
    return ops.empty() ? std::string() : std::to_string(ops.front());
  });
  for (size_t side = 1; side < sides_; ++side) MatchByOverlap(side);
}

// Devices fuse differently, and XLA's kernels hold other operations than ours: what is the same kernel to a reader.
void BlockMatcher::MatchTexts() {
  const auto scoped = [](const ComparedRow& row, const std::string& what) {
    return row.scope.empty() ? std::string() : row.scope + '\n' + what;
  };
  const auto results = [](const ComparedRow& row) { return Results(row.shapes); };
  MatchBy(kByScope, [&](const ComparedRow& row) { return scoped(row, SortOf(row) + results(row)); });
  MatchBy(kByResults, [&](const ComparedRow& row) { return row.kind + '\n' + SortOf(row) + results(row); });
  MatchBy(kByResults, [&](const ComparedRow& row) { return SortOf(row) + results(row); });
  MatchBy(kByResults, [&](const ComparedRow& row) { return row.kind + '\n' + SortOf(row) + LargestIn(results(row)); });
  MatchBy(kByScope, [&](const ComparedRow& row) { return scoped(row, SortOf(row) + row.kind); });
  MatchBy(kByResults, [&](const ComparedRow& row) { return SortOf(row) + LargestIn(results(row)); });
  // Dimensions may be split and joined: "41,128,2624" is "5248,2624".
  MatchBy(kByResults, [&](const ComparedRow& row) {
    return fmt::format("{}\n{}{}", row.kind, SortOf(row), Elements(LargestOf(Arrays(results(row)))));
  });
  // One of them may write a further array.
  MatchBy(kByResults, [&](const ComparedRow& row) {
    const std::string all = results(row);
    return row.kind + '\n' + SortOf(row) + LargestIn(all.substr(0, all.find(']') + 1));
  });
  // An operation may stand alone on one side and in a kernel of its own on the other.
  MatchBy(kByResults, [&](const ComparedRow& row) {
    constexpr std::string_view kFusion = "fusion of ";
    return row.op.substr(row.op.starts_with(kFusion) ? kFusion.size() : 0) + '\n' + results(row);
  });
}

// Rows that `name` calls alike become one; "" calls nothing alike.
template <class Name>
void BlockMatcher::MatchBy(const char* why, const Name& name) {
  for (size_t side = 1; side < sides_; ++side) {
    std::map<std::string, std::pair<std::vector<size_t>, std::vector<size_t>>> alike;
    for (size_t i = 0; i < out_.rows.size(); ++i) {
      const ComparedRow& row = out_.rows[i];
      if (gone_[i] || row.matched()) continue;
      const std::string key = name(row);
      if (key.empty()) continue;
      auto& [without, with] = alike[key];
      (row.count[side] > 0 ? with : without).push_back(i);
    }
    for (const auto& [key, rows] : alike) PairInOrder(rows.first, rows.second, why);
  }
}

void BlockMatcher::PairInOrder(const std::vector<size_t>& without, const std::vector<size_t>& with, const char* why) {
  using Placed = std::vector<std::pair<double, size_t>>;
  const auto placed = [&](const std::vector<size_t>& rows) {
    Placed out;
    for (const size_t i : rows) out.emplace_back(PlaceOf(SideOf(out_.rows[i]), out_.rows[i]), i);
    std::sort(out.begin(), out.end());
    return out;
  };
  const auto places = [](const Placed& rows) {
    std::vector<double> out;
    for (const auto& [place, row] : rows) out.push_back(place);
    return out;
  };
  const Placed first = placed(without);
  const Placed second = placed(with);
  const bool more = second.size() > first.size();
  const Placed& few = more ? first : second;
  const Placed& many = more ? second : first;
  for (const auto& [i, j] : Nearest(places(few), places(many))) {
    const size_t from = more ? many[j].second : few[i].second;  // of `with`
    const size_t into = more ? few[i].second : many[j].second;
    if (AreApart(out_.rows[from], out_.rows[into])) Merge(from, into, why);
  }
}

// Rows that share more than half of all operations of both, those that share most first; of equal ones the nearest.
void BlockMatcher::MatchByOverlap(size_t side) {
  struct Pair {
    double shared;
    double apart;
    size_t without;
    size_t with;
  };
  std::unordered_map<uint32_t, std::vector<size_t>> with;
  for (size_t i = 0; i < out_.rows.size(); ++i) {
    const ComparedRow& row = out_.rows[i];
    if (gone_[i] || row.matched() || row.count[side] == 0) continue;
    for (const uint32_t op : OpsOf(side, row)) with[op].push_back(i);
  }
  std::vector<Pair> pairs;
  for (size_t i = 0; i < out_.rows.size(); ++i) {
    const ComparedRow& row = out_.rows[i];
    if (gone_[i] || row.matched() || row.count[side] > 0) continue;
    const size_t own = SideOf(row);
    std::map<size_t, size_t> shared;
    for (const uint32_t op : OpsOf(own, row)) {
      for (const size_t other : with[op]) ++shared[other];
    }
    for (const auto& [other, count] : shared) {
      const ComparedRow& partner = out_.rows[other];
      const size_t all = OpsOf(own, row).size() + OpsOf(side, partner).size() - count;
      if (2 * count <= all) continue;
      pairs.push_back({static_cast<double>(count) / static_cast<double>(all),
                       std::abs(PlaceOf(own, row) - PlaceOf(side, partner)), i, other});
    }
  }
  std::stable_sort(pairs.begin(), pairs.end(), [](const Pair& a, const Pair& b) {
    return std::pair(-a.shared, a.apart) < std::pair(-b.shared, b.apart);
  });
  std::vector<char> taken(out_.rows.size(), 0);
  for (const Pair& pair : pairs) {
    if (taken[pair.without] || taken[pair.with] || !AreApart(out_.rows[pair.without], out_.rows[pair.with])) continue;
    taken[pair.without] = taken[pair.with] = 1;
    Merge(pair.with, pair.without, kByOps);
  }
}

void BlockMatcher::Merge(size_t from, size_t into, const char* why) {
  const ComparedRow& source = out_.rows[from];
  ComparedRow& row = out_.rows[into];
  for (size_t side = 0; side < sides_; ++side) {
    if (source.count[side] == 0) continue;
    if (row.count[side] == 0) {
      row.block[side] = source.block[side];
      row.bound[side] = source.bound[side];
    }
    row.count[side] += source.count[side];
    row.time[side] += source.time[side];
  }
  row.key = why;
  gone_[from] = 1;
}

// `why` where that is a pair, else as a part.
void BlockMatcher::Join(size_t from, size_t into, const char* why) {
  ComparedRow& row = out_.rows[into];
  row.parts |= !AreApart(out_.rows[from], row);
  Merge(from, into, row.parts ? kByParts : why);
}

// What is a kernel of its own on one side only is a part of another kernel elsewhere.
void BlockMatcher::JoinParts() {
  if (KnowsOps()) JoinByOps();
  JoinByResults();
}

// Into the row whose kernel on another side computes what this one is about, the nearest of several.
void BlockMatcher::JoinByOps() {
  for (size_t side = 0; side < sides_; ++side) {
    std::unordered_map<uint32_t, std::vector<size_t>> rows;  // that compute an operation on this side
    for (size_t i = 0; i < out_.rows.size(); ++i) {
      if (gone_[i] || out_.rows[i].count[side] == 0) continue;
      for (const uint32_t op : OpsOf(side, out_.rows[i])) rows[op].push_back(i);
    }
    for (size_t i = 0; i < out_.rows.size(); ++i) {
      const ComparedRow& row = out_.rows[i];
      if (gone_[i] || row.count[side] > 0) continue;
      const size_t own = SideOf(row);
      const std::vector<uint32_t>& ops = OpsOf(own, row);
      std::map<size_t, size_t> shared;
      for (const uint32_t op : ops) {
        for (const size_t other : rows[op]) shared[other] += op == ops.front() ? ops.size() : 1;
      }
      std::optional<size_t> best;
      std::pair<size_t, double> best_rank;
      for (const auto& [other, count] : shared) {
        if (gone_[other]) continue;
        const std::pair rank(2 * ops.size() - count, std::abs(PlaceOf(own, row) - PlaceOf(side, out_.rows[other])));
        if (best && best_rank <= rank) continue;
        best = other;
        best_rank = rank;
      }
      if (!best) continue;
      Join(i, *best, kByOps);
    }
  }
}

// Into the row whose kernel on another side writes several arrays, one of them the largest that this one writes; no
// more kernels than arrays.
void BlockMatcher::JoinByResults() {
  for (size_t side = 0; side < sides_; ++side) {
    std::map<std::vector<int64_t>, std::vector<size_t>> writers;
    for (size_t i = 0; i < out_.rows.size(); ++i) {
      const ComparedRow& row = out_.rows[i];
      if (gone_[i] || row.count[side] == 0 || !IsKernel(row)) continue;
      const auto arrays = Arrays(Results(ShapesOf(side, row)));
      if (arrays.size() < 2) continue;
      for (const auto& array : arrays) {
        std::vector<size_t>& rows = writers[array];
        if (rows.empty() || rows.back() != i) rows.push_back(i);
      }
    }
    for (size_t i = 0; i < out_.rows.size(); ++i) {
      const ComparedRow& row = out_.rows[i];
      if (gone_[i] || row.count[side] > 0 || !IsKernel(row)) continue;
      const size_t own = SideOf(row);
      const auto found = writers.find(LargestOf(Arrays(Results(row.shapes))));
      if (found == writers.end()) continue;
      std::optional<size_t> best;
      double apart = 0;
      for (const size_t other : found->second) {
        const ComparedRow& candidate = out_.rows[other];
        const auto room = static_cast<int64_t>(Arrays(Results(ShapesOf(side, candidate))).size());
        const double distance = std::abs(PlaceOf(own, row) - PlaceOf(side, candidate));
        if (gone_[other] || candidate.count[own] >= room || (best && apart <= distance)) continue;
        best = other;
        apart = distance;
      }
      if (!best) continue;
      Join(i, *best, kByResults);
    }
  }
}

void BlockMatcher::EraseGone() {
  size_t at = 0;
  std::erase_if(out_.rows, [&](const ComparedRow&) { return gone_[at++] != 0; });
}

}  // namespace hespas::report
