#include "report/page/dependency_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>
#include <string_view>

#include "report/step/breakdown.h"
#include "report/step/op_labels.h"
#include "report/text/table.h"

namespace hespas::report {
namespace {

using graph::BlockKind;

struct Colour {
  std::string_view name;
  std::string_view value;
};

// Those of report.html.
constexpr Colour kBounds[] = {{"compute", "#9cc3ee"}, {"memory", "#f3b48d"}, {"launch", "#cdb8ea"},
                              {"network", "#8fd6c0"}, {"none", "#dfe2e7"},   {"measured", "#dfe2e7"}};
constexpr Colour kKinds[] = {{"matmul", "#123f7a"},       {"convolution", "#123f7a"}, {"attention", "#123f7a"},
                             {"elementwise", "#8a3c0d"},  {"reduction", "#6a1b6a"},   {"data movement", "#8a6d0d"},
                             {"communication", "#0b5a48"}};
constexpr std::string_view kOtherKind = "#4d5562";

template <size_t kSize>
std::string_view ColourOf(const Colour (&table)[kSize], std::string_view name, std::string_view other) {
  for (const Colour& row : table) {
    if (row.name == name) return row.value;
  }
  return other;
}

// What is drawn as one node: blocks [begin, end).
struct Run {
  size_t begin = 0;
  size_t end = 0;
  std::string layer;
};

class Maker {
 public:
  Maker(const graph::BlockGraph& blocks, const graph::EstimateTable* estimates)
      : blocks_(blocks), estimates_(estimates), module_(*blocks.module) {}

  std::vector<GraphNode> Make() {
    const std::vector<Run> runs = Runs();
    node_of_.resize(blocks_.blocks.size());
    std::vector<GraphNode> nodes;
    for (const Run& run : runs) {
      for (size_t i = run.begin; i < run.end; ++i) node_of_[i] = static_cast<uint32_t>(nodes.size());
      nodes.push_back(run.end - run.begin == 1 && runs.size() == blocks_.blocks.size() ? One(run.begin) : Many(run));
      AddEdges(run, nodes);
    }
    return nodes;
  }

 private:
  std::vector<Run> Runs() const {
    const size_t count = blocks_.blocks.size();
    if (count <= kMostNodes) return Chunks(1);
    const std::vector<Run> layers = LayerRuns();
    const bool named = std::any_of(layers.begin(), layers.end(), [](const Run& run) { return !run.layer.empty(); });
    if (named && layers.size() <= kMostNodes) return layers;
    return Chunks((count + kMostNodes - 1) / kMostNodes * 4);
  }

  std::vector<Run> Chunks(size_t length) const {
    std::vector<Run> runs;
    for (size_t i = 0; i < blocks_.blocks.size(); i += length) {
      runs.push_back({i, std::min(i + length, blocks_.blocks.size()), ""});
    }
    return runs;
  }

  // Runs keep program order, so that the graph of runs has no cycles; blocks without a layer stay with the run before.
  std::vector<Run> LayerRuns() const {
    std::vector<Run> runs;
    for (size_t i = 0; i < blocks_.blocks.size(); ++i) {
      const std::string_view layer = LayerOf(FrameworkName(module_, blocks_.blocks[i].ops.back()));
      if (!runs.empty() && (layer.empty() || runs.back().layer == layer)) {
        runs.back().end = i + 1;
      } else if (!runs.empty() && runs.back().layer.empty()) {
        runs.back().layer = layer;
        runs.back().end = i + 1;
      } else {
        runs.push_back({i, i + 1, std::string(layer)});
      }
    }
    return runs;
  }

  void AddEdges(const Run& run, std::vector<GraphNode>& nodes) const {
    std::vector<uint32_t>& predecessors = nodes.back().predecessors;
    for (size_t i = run.begin; i < run.end; ++i) {
      for (const graph::BlockId from : blocks_.blocks[i].predecessors) {
        const uint32_t node = node_of_[from.index()];
        if (node + 1 != nodes.size()) predecessors.push_back(node);
      }
    }
    std::sort(predecessors.begin(), predecessors.end());
    predecessors.erase(std::unique(predecessors.begin(), predecessors.end()), predecessors.end());
  }

  const graph::Estimate* EstimateOf(size_t block) const {
    return estimates_ == nullptr ? nullptr : estimates_->Of(graph::BlockId(block));
  }

  std::string_view BoundOf(size_t block) const {
    if (blocks_.blocks[block].kind == BlockKind::kCommunication) return "network";
    const graph::Estimate* estimate = EstimateOf(block);
    return estimate == nullptr || estimate->time == Time() ? "none" : graph::BoundName(BoundOfRest(*estimate));
  }

  std::string_view KindOf(size_t block) const {
    if (blocks_.blocks[block].kind == BlockKind::kCommunication) return "communication";
    return KindLabel(module_, blocks_.blocks[block].ops.back());
  }

  GraphNode One(size_t i) const {
    const graph::Block& block = blocks_.blocks[i];
    std::string label = fmt::format("{}: {}", i, ShortName(module_.name(HeroOf(module_, block.ops.back()))));
    if (block.ops.size() > 1) label += fmt::format(" and {} more", block.ops.size() - 1);
    std::string title = fmt::format("block {}: {}, {}, bound by {}", i, KindOf(i), Shapes(blocks_, block), BoundOf(i));
    if (const graph::Estimate* estimate = EstimateOf(i)) title += ", " + HumanTime(estimate->time);
    return {.label = std::move(label),
            .title = std::move(title),
            .fill = std::string(ColourOf(kBounds, BoundOf(i), "#dfe2e7")),
            .border = std::string(ColourOf(kKinds, KindOf(i), kOtherKind)),
            .predecessors = {}};
  }

  // Coloured as the kind and bound that take most of its time (without estimates: that most blocks have).
  GraphNode Many(const Run& run) const {
    std::map<std::string_view, Time> bounds;
    std::map<std::string_view, Time> kinds;
    Time total;
    for (size_t i = run.begin; i < run.end; ++i) {
      const graph::Estimate* estimate = EstimateOf(i);
      const Time time = estimate == nullptr ? Time() : estimate->time;
      bounds[BoundOf(i)] += time + Time(1);
      kinds[KindOf(i)] += time + Time(1);
      total += time;
    }
    const auto most = [](const auto& sums) {
      return std::max_element(sums.begin(), sums.end(), [](auto& a, auto& b) { return a.second < b.second; })->first;
    };
    const std::string range = run.end - run.begin == 1 ? fmt::format("block {}", run.begin)
                                                       : fmt::format("blocks {} to {}", run.begin, run.end - 1);
    std::string title = fmt::format("{}, mostly {}, bound by {}", range, most(kinds), most(bounds));
    if (estimates_ != nullptr) title += ", " + HumanTime(total);
    return {.label = run.layer.empty() ? range : fmt::format("{} ({})", run.layer, run.end - run.begin),
            .title = std::move(title),
            .fill = std::string(ColourOf(kBounds, most(bounds), "#dfe2e7")),
            .border = std::string(ColourOf(kKinds, most(kinds), kOtherKind)),
            .predecessors = {}};
  }

  const graph::BlockGraph& blocks_;
  const graph::EstimateTable* estimates_;
  const ir::Module& module_;
  std::vector<uint32_t> node_of_;  // by block
};

std::string Escaped(std::string_view text, bool xml) {
  std::string out;
  for (const char c : text) {
    if (xml && c == '<') {
      out += "&lt;";
    } else if (xml && c == '>') {
      out += "&gt;";
    } else if (xml && c == '&') {
      out += "&amp;";
    } else if (c == '"') {
      out += xml ? "&quot;" : "\\\"";
    } else if (!xml && c == '\\') {
      out += "\\\\";
    } else {
      out += c;
    }
  }
  return out;
}

}  // namespace

std::vector<GraphNode> DependencyGraph(const graph::BlockGraph& blocks, const graph::EstimateTable* estimates) {
  return Maker(blocks, estimates).Make();
}

std::string ToDot(const std::vector<GraphNode>& nodes) {
  std::string out =
      "digraph blocks {\n  // fill: blue compute, orange memory, violet launch, green network; border: kind of "
      "operation\n"
      "  node [shape=box, style=\"filled,rounded\", penwidth=2, fontname=\"Helvetica\"];\n";
  for (size_t i = 0; i < nodes.size(); ++i) {
    const GraphNode& node = nodes[i];
    out += fmt::format("  {} [label=\"{}\", tooltip=\"{}\", fillcolor=\"{}\", color=\"{}\"];\n", i,
                       Escaped(node.label, false), Escaped(node.title, false), node.fill, node.border);
    for (const uint32_t from : node.predecessors) out += fmt::format("  {} -> {};\n", from, i);
  }
  return out + "}\n";
}

namespace {

// Nodes in rows by their longest path from the start; within a row ordered by where their predecessors stand.
class Layout {
 public:
  explicit Layout(const std::vector<GraphNode>& nodes) : nodes_(nodes), level_(nodes.size()), x_(nodes.size()) {
    size_t levels = 0;
    for (size_t i = 0; i < nodes.size(); ++i) {
      for (const uint32_t from : nodes[i].predecessors) level_[i] = std::max(level_[i], level_[from] + 1);
      levels = std::max(levels, level_[i] + 1);
    }
    rows_.resize(levels);
    for (uint32_t i = 0; i < nodes.size(); ++i) rows_[level_[i]].push_back(i);
    for (std::vector<uint32_t>& row : rows_) Place(row);
    for (const std::vector<uint32_t>& row : rows_) columns_ = std::max(columns_, row.size());
  }

  double x(size_t node) const { return x_[node]; }
  size_t level(size_t node) const { return level_[node]; }
  size_t levels() const { return rows_.size(); }
  size_t columns() const { return columns_; }

 private:
  void Place(std::vector<uint32_t>& row) {
    std::vector<double> wish(nodes_.size());
    for (const uint32_t node : row) {
      double sum = 0;
      for (const uint32_t from : nodes_[node].predecessors) sum += x_[from];
      const auto count = static_cast<double>(nodes_[node].predecessors.size());
      wish[node] = count > 0 ? sum / count : 0;
    }
    std::stable_sort(row.begin(), row.end(), [&](uint32_t a, uint32_t b) { return wish[a] < wish[b]; });
    // Centred, so that a chain is a straight line.
    const double first = -0.5 * static_cast<double>(row.size() - 1);
    for (size_t i = 0; i < row.size(); ++i) x_[row[i]] = first + static_cast<double>(i);
  }

  const std::vector<GraphNode>& nodes_;
  std::vector<size_t> level_;
  std::vector<double> x_;
  std::vector<std::vector<uint32_t>> rows_;
  size_t columns_ = 1;
};

constexpr double kWidth = 190;  // of a node with the space beside it
constexpr double kHeight = 58;
constexpr double kBox = 166;
constexpr double kTall = 32;
constexpr double kLegend = 64;
constexpr size_t kLetters = 23;

std::string Legend() {
  constexpr Colour kShown[] = {{"matmul", "#123f7a"},        {"elementwise", "#8a3c0d"},   {"reduction", "#6a1b6a"},
                               {"data movement", "#8a6d0d"}, {"communication", "#0b5a48"}, {"other", kOtherKind}};
  std::string out;
  double x = 12;
  for (const Colour& bound : std::span(kBounds, 4)) {
    out += fmt::format(
        "<rect x=\"{}\" y=\"10\" width=\"14\" height=\"14\" rx=\"3\" fill=\"{}\"/><text x=\"{}\" y=\"21\">{}</text>\n",
        x, bound.value, x + 20, bound.name);
    x += 96;
  }
  x = 12;
  for (const Colour& kind : kShown) {
    out += fmt::format(
        "<rect x=\"{}\" y=\"34\" width=\"12\" height=\"12\" rx=\"3\" fill=\"none\" stroke=\"{}\" stroke-width=\"2.5\"/>"
        "<text x=\"{}\" y=\"44\">{}</text>\n",
        x + 1, kind.value, x + 20, kind.name);
    x += 128;
  }
  return out;
}

std::string Shortened(const std::string& label) {
  return label.size() <= kLetters ? label : label.substr(0, kLetters - 1) + "\u2026";
}

}  // namespace

std::string ToSvg(const std::vector<GraphNode>& nodes) {
  const Layout layout(nodes);
  const double width = std::max(800.0, kWidth * static_cast<double>(layout.columns()) + 20);
  const double height = kLegend + kHeight * static_cast<double>(layout.levels()) + 10;
  const auto x = [&](size_t node) { return width / 2 + kWidth * layout.x(node); };
  const auto y = [&](size_t node) { return kLegend + kHeight * static_cast<double>(layout.level(node)); };
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" role=\"img\" "
      "font-family=\"Helvetica, Liberation Sans, sans-serif\" font-size=\"12\">\n<title>Dependency graph of {2} "
      "nodes</title>\n"
      "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n{3}<g fill=\"none\" stroke=\"#7d848f\" "
      "stroke-opacity=\"0.55\">\n",
      width, height, nodes.size(), Legend());
  for (size_t i = 0; i < nodes.size(); ++i) {
    for (const uint32_t from : nodes[i].predecessors) {
      const double bottom = y(from) + kTall;
      const double bend = (y(i) - bottom) / 2;
      out += fmt::format("<path d=\"M{:.1f} {:.1f}C{:.1f} {:.1f} {:.1f} {:.1f} {:.1f} {:.1f}\"/>\n", x(from), bottom,
                         x(from), bottom + bend, x(i), y(i) - bend, x(i), y(i));
    }
  }
  out += "</g>\n";
  for (size_t i = 0; i < nodes.size(); ++i) {
    out += fmt::format(
        "<g><title>{}</title><rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{}\" height=\"{}\" rx=\"6\" fill=\"{}\" "
        "stroke=\"{}\" stroke-width=\"2\"/><text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"middle\">{}</text></g>\n",
        Escaped(nodes[i].title, true), x(i) - kBox / 2, y(i), kBox, kTall, nodes[i].fill, nodes[i].border, x(i),
        y(i) + kTall / 2 + 4, Escaped(Shortened(nodes[i].label), true));
  }
  return out + "</svg>\n";
}

}  // namespace hespas::report
