#include "report/text/comparison.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <sstream>
#include <string_view>
#include <unordered_map>

#include "report/step/scope_path.h"
#include "report/text/efficiency.h"

namespace hespas::report {
namespace {

using result::BlockTimes;

constexpr int64_t kAbsent = -1;
constexpr char kByScope[] = "scope";  // what made rows match, where structures do not
constexpr char kByResults[] = "results";

ComparedRow EmptyRow(size_t sides) {
  ComparedRow row;
  row.block.assign(sides, kAbsent);
  row.count.assign(sides, 0);
  row.time.resize(sides);
  row.bound.resize(sides);
  return row;
}

// A kernel may hold other operations on the other side, and a collective may run apart from what waits for it; an
// operation of its own is the same or another one.
std::string SortOf(const ComparedRow& row) {
  const bool kernel = row.op.starts_with("fusion of") || row.op.find("custom_call") != std::string::npos;
  const bool apart = row.op.ends_with("async_start") || row.op.ends_with(row.kind);
  return (kernel ? "kernel" : apart ? row.kind : row.op) + '\n';
}

// "f16[8,64]" of "tensor<8x64xf16>".
std::string InBrackets(std::string_view tensor) {
  const size_t type = tensor.rfind('x');
  if (type == std::string_view::npos) return fmt::format("{}[]", tensor);
  std::string extents(tensor.substr(0, type));
  std::replace(extents.begin(), extents.end(), 'x', ',');
  return fmt::format("{}[{}]", tensor.substr(type + 1), extents);
}

// What is written, as "f16[8,64], f32[64]". Of a library's call the workspace does not count, and of a collective that
// only starts the operands do not: "!mhlo.async_bundle<tuple<operands>, tuple<results>>".
std::string Results(const ComparedRow& row) {
  const size_t arrow = row.shapes.rfind("->");
  std::string_view text(row.shapes);
  if (arrow != std::string::npos) text.remove_prefix(arrow + 2);
  const size_t bundle = text.find("async_bundle<");
  if (bundle != std::string_view::npos) text = text.substr(std::max(text.rfind(">, "), bundle + 12));
  std::string out;
  const auto add = [&](const std::string& array) { out += (out.empty() ? "" : ", ") + array; };
  for (size_t at = text.find("tensor<"); at != std::string_view::npos; at = text.find("tensor<", at + 1)) {
    const std::string array = InBrackets(text.substr(at + 7, text.find('>', at) - at - 7));
    if (!array.starts_with("ui8[")) add(array);
  }
  if (out.empty()) out = text.substr(std::min(text.find_first_not_of(" ("), text.size()));
  while (out.ends_with(')')) out.pop_back();
  return out;
}

// The extents of the largest array in any order, whatever its type and its dimensions of 1: "4096,9" of
// "f32[1,9,4096]". Compilers transpose what they write.
std::string LargestIn(std::string_view shapes) {
  std::vector<int64_t> largest;
  double most = 0;
  for (size_t at = shapes.find('['); at != std::string_view::npos; at = shapes.find('[', at + 1)) {
    std::vector<int64_t> extents;
    double elements = 1;
    std::istringstream inside(std::string(shapes.substr(at + 1, shapes.find(']', at) - at - 1)));
    for (std::string extent; std::getline(inside, extent, ',');) {
      const int64_t size = std::atoll(extent.c_str());
      if (size != 1) extents.push_back(size);
      elements *= static_cast<double>(std::max<int64_t>(1, size));
    }
    if (elements <= most) continue;
    most = elements;
    largest = std::move(extents);
  }
  std::ranges::sort(largest);
  return fmt::format("{}", fmt::join(largest, ","));
}

std::string ElementsIn(const std::string& shapes) {
  double elements = 1;
  std::istringstream extents(LargestIn(shapes));
  for (std::string extent; std::getline(extents, extent, ',');) elements *= std::strtod(extent.c_str(), nullptr);
  return fmt::format("{}", elements);
}

class Matcher {
 public:
  explicit Matcher(Comparison& out) : out_(out), sides_(out.results.size()) {}

  void Match() {
    for (size_t side = 0; side < sides_; ++side) AddBlocks(side, *out_.results[side].block_times);
    MatchRest();
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

  // Devices fuse differently, and XLA's kernels hold other operations than ours: what is the same kernel to a reader.
  void MatchRest() {
    const auto scoped = [](const ComparedRow& row, const std::string& what) {
      return row.scope.empty() ? std::string() : row.scope + '\n' + what;
    };
    MatchBy(kByScope, [&](const ComparedRow& row) { return scoped(row, SortOf(row) + Results(row)); });
    MatchBy(kByResults, [&](const ComparedRow& row) { return row.kind + '\n' + SortOf(row) + Results(row); });
    MatchBy(kByResults, [&](const ComparedRow& row) { return SortOf(row) + Results(row); });
    MatchBy(kByResults,
            [&](const ComparedRow& row) { return row.kind + '\n' + SortOf(row) + LargestIn(Results(row)); });
    MatchBy(kByScope, [&](const ComparedRow& row) { return scoped(row, SortOf(row) + row.kind); });
    MatchBy(kByResults, [&](const ComparedRow& row) { return SortOf(row) + LargestIn(Results(row)); });
    // Dimensions may be split and joined: "41,128,2624" is "5248,2624".
    MatchBy(kByResults,
            [&](const ComparedRow& row) { return row.kind + '\n' + SortOf(row) + ElementsIn(Results(row)); });
    // One of them may write a further array.
    MatchBy(kByResults, [&](const ComparedRow& row) {
      const std::string results = Results(row);
      return row.kind + '\n' + SortOf(row) + LargestIn(results.substr(0, results.find(']') + 1));
    });
  }

  static bool AreApart(const ComparedRow& a, const ComparedRow& b) {
    for (size_t side = 0; side < a.count.size(); ++side) {
      if (a.count[side] > 0 && b.count[side] > 0) return false;
    }
    return true;
  }

  static void Merge(const ComparedRow& from, ComparedRow& into) {
    for (size_t side = 0; side < from.count.size(); ++side) {
      if (from.count[side] == 0) continue;
      into.block[side] = from.block[side];
      into.count[side] = from.count[side];
      into.time[side] = from.time[side];
      into.bound[side] = from.bound[side];
    }
  }

  // Rows of different sides that `name` calls alike become one, the first with the first; "" calls nothing alike.
  template <class Name>
  void MatchBy(const char* why, const Name& name) {
    std::unordered_map<std::string, std::vector<size_t>> open;
    std::vector<char> gone(out_.rows.size(), 0);
    for (size_t i = 0; i < out_.rows.size(); ++i) {
      if (out_.rows[i].matched()) continue;
      const std::string key = name(out_.rows[i]);
      if (key.empty()) continue;
      std::vector<size_t>& before = open[key];
      const auto partner =
          std::ranges::find_if(before, [&](size_t at) { return AreApart(out_.rows[at], out_.rows[i]); });
      if (partner == before.end()) {
        before.push_back(i);
        continue;
      }
      Merge(out_.rows[i], out_.rows[*partner]);
      out_.rows[*partner].key = why;
      gone[i] = 1;
      if (out_.rows[*partner].matched()) before.erase(partner);
    }
    size_t at = 0;
    std::erase_if(out_.rows, [&](const ComparedRow&) { return gone[at++] != 0; });
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
  comparison.groups = Joined(comparison.rows, [](const ComparedRow& row) {
    const bool loose = row.key == kByScope || row.key == kByResults;
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
