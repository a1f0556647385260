#include "report/page/dependency_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <string_view>

#include "base/system/file.h"
#include "base/system/process.h"
#include "base/system/scratch_folder.h"
#include "report/step/breakdown.h"
#include "report/step/kernel_name.h"
#include "report/step/op_labels.h"
#include "report/step/scope_path.h"
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

constexpr std::string_view kLegend =
    "fill: blue compute, orange memory, violet launch, green network; border: kind of operation";
constexpr std::chrono::minutes kTimeLimit(2);  // of dot, which draws kMostNodes in seconds

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
      const std::string layer = LayerOf(FrameworkName(module_, blocks_.blocks[i].ops.back()));
      if (!runs.empty() && (layer.empty() || runs.back().layer == layer)) {
        runs.back().end = i + 1;
      } else if (!runs.empty() && runs.back().layer.empty()) {
        runs.back().layer = layer;
        runs.back().end = i + 1;
      } else {
        runs.push_back({i, i + 1, layer});
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
    std::string title = fmt::format("block {}: {}, {}, {}, bound by {}", i, KernelName(module_, block.ops.back()),
                                    KindOf(i), Shapes(blocks_, block), BoundOf(i));
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

std::string Escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

}  // namespace

std::vector<GraphNode> DependencyGraph(const graph::BlockGraph& blocks, const graph::EstimateTable* estimates) {
  return Maker(blocks, estimates).Make();
}

std::string ToDot(const std::vector<GraphNode>& nodes) {
  std::string out = fmt::format("digraph blocks {{\n  // {}\n", kLegend) +
                    "  node [shape=box, style=\"filled,rounded\", penwidth=2, fontname=\"Helvetica\"];\n";
  for (size_t i = 0; i < nodes.size(); ++i) {
    const GraphNode& node = nodes[i];
    out += fmt::format("  {} [label=\"{}\", tooltip=\"{}\", fillcolor=\"{}\", color=\"{}\"];\n", i, Escaped(node.label),
                       Escaped(node.title), node.fill, node.border);
    for (const uint32_t from : node.predecessors) out += fmt::format("  {} -> {};\n", from, i);
  }
  return out + "}\n";
}

Result<std::string> ToSvg(const std::vector<GraphNode>& nodes) {
  const std::string dot = FindProgram({"dot"});
  if (dot.empty()) {
    return MakeError(kNoGraphviz, "Graphviz's `dot` is not in PATH", {}, "install graphviz, or use --format dot");
  }
  const ScratchFolder folder;
  if (Status written = WriteFileAtomically(folder.path() / "graph.dot", ToDot(nodes)); !written) return written.error();
  const std::string legend = fmt::format("-Glabel={}", kLegend);
  const auto run = RunProcess({dot, "-Tsvg", "-Gnslimit=1", "-Gmclimit=0.2", "-Glabelloc=t", "-Gfontname=Helvetica",
                               legend, "-o", "graph.svg", "graph.dot"},
                              folder.path().string(), kTimeLimit);
  if (!run) return run.error();
  if (const auto failure = run->Failure(kTimeLimit)) {
    return MakeError(kNoGraphviz, fmt::format("`{}` {}: {}", dot, *failure, run->output), {}, "use --format dot");
  }
  return ReadRaw((folder.path() / "graph.svg").string());
}

}  // namespace hespas::report
