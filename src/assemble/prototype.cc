#include "assemble/prototype.h"

#include <fmt/format.h>

#include <algorithm>

#include "assemble/rank_signature.h"
#include "graph/packed_bytes.h"
#include "ir/attributes/attribute.h"

namespace hespas::assemble {
namespace {

using graph::BlockKind;
using ir::OpKind;
using trace::Collective;

struct KindRow {
  std::string_view name;
  Collective kind;
};

// In the order in which the prototype searches the text of a block.
constexpr KindRow kKinds[] = {
    {"stablehlo.collective_permute", Collective::kAllToAll}, {"stablehlo.all_gather", Collective::kAllGather},
    {"stablehlo.all_to_all", Collective::kAllToAll},         {"stablehlo.reduce_scatter", Collective::kReduceScatter},
    {"stablehlo.all_reduce", Collective::kAllReduce},
};

// `dense<[[..], ..]> : tensor<GxSxi64>` or a splat of that shape; anything else means no groups.
std::vector<std::vector<int64_t>> ReadGroups(std::string_view text) {
  const auto dense = ir::AsDense(text);
  if (!dense || (dense->form != ir::DenseForm::kList && dense->form != ir::DenseForm::kSplat)) return {};
  const auto matrix = ir::AsIntegerMatrix(text);
  if (!matrix) return {};
  std::vector<std::vector<int64_t>> groups;
  for (int64_t row = 0; row < matrix->rows; ++row) {
    auto& group = groups.emplace_back();
    for (int64_t column = 0; column < matrix->columns; ++column) group.push_back(matrix->at(row, column));
  }
  return groups;
}

int64_t ResultBytes(const ir::Module& module, const graph::Block& block) {
  int64_t bytes = 0;
  for (const ir::ValueId value : block.outputs) {
    bytes = internal::SaturatingAdd(bytes, graph::PackedBytes(module.types(), module.type_id(value)));
  }
  return bytes;
}

// Half to even, as Python rounds.
Time WholeMicroseconds(Time time) {
  constexpr int64_t kMicrosecond = 1'000'000;
  int64_t whole = time.value / kMicrosecond;
  const int64_t rest = time.value % kMicrosecond;
  if (rest > kMicrosecond / 2 || (rest == kMicrosecond / 2 && whole % 2 == 1)) ++whole;
  return Time(std::max<int64_t>(whole, 0) * kMicrosecond);
}

class Builder {
 public:
  Builder(const ir::Module& module, const graph::BlockGraph& graph, const graph::EstimateTable& estimates)
      : graph_(graph), estimates_(estimates), communications_(graph.blocks.size()) {
    for (size_t i = 0; i < graph.blocks.size(); ++i) {
      if (graph.blocks[i].kind != BlockKind::kCommunication) continue;
      communications_[i] = DescribeAsPrototype(module, graph.blocks[i]);
      groups_.Add(communications_[i]);
    }
  }

  const PrototypeGroups& groups() const { return groups_; }

  trace::Program Program(int64_t device) const {
    trace::Program program;
    program.nodes.reserve(graph_.blocks.size());
    for (size_t i = 0; i < graph_.blocks.size(); ++i) {
      const graph::Block& block = graph_.blocks[i];
      trace::Node& node = program.nodes.emplace_back();
      node.id = i;
      node.first_dependency = static_cast<uint32_t>(program.dependencies.size());
      node.dependency_count = static_cast<uint32_t>(block.predecessors.size());
      for (const graph::BlockId p : block.predecessors) program.dependencies.push_back(p.index());
      if (block.kind == BlockKind::kCompute) {
        node.name = "COMP_NODE";
        const graph::Estimate* estimate = estimates_.Of(graph::BlockId(i));
        if (estimate != nullptr) node.duration = WholeMicroseconds(estimate->time);
        continue;
      }
      node.name = "COMM_COLL_NODE";
      node.kind = trace::NodeKind::kCollective;
      node.collective = communications_[i].kind;
      node.size = Bytes(communications_[i].size);
      node.group = groups_.GroupOf(communications_[i].pattern, device);
    }
    return program;
  }

 private:
  const graph::BlockGraph& graph_;
  const graph::EstimateTable& estimates_;
  std::vector<PrototypeCommunication> communications_;
  PrototypeGroups groups_;
};

}  // namespace

PrototypeCommunication DescribeAsPrototype(const ir::Module& module, const graph::Block& block) {
  PrototypeCommunication out{.size = ResultBytes(module, block)};
  bool permute = false;
  size_t best = std::size(kKinds);
  for (const ir::OpId op : block.ops) {
    for (size_t row = 0; row < best; ++row) {
      if (module.name(op) == kKinds[row].name) best = row;
    }
    permute |= module.kind(op) == OpKind::kCollectivePermute;
  }
  if (best < std::size(kKinds)) out.kind = kKinds[best].kind;
  if (permute) return out;
  for (const ir::OpId op : block.ops) {
    const std::string_view* text = module.attribute(op, "replica_groups");
    if (text == nullptr) continue;
    out.groups = ReadGroups(*text);
    if (!out.groups.empty()) break;
  }
  return out;
}

void PrototypeGroups::Add(PrototypeCommunication& communication) {
  split_ |= communication.groups.size() > 1;
  const auto [at, is_new] =
      patterns_.try_emplace(std::move(communication.groups), static_cast<uint32_t>(patterns_.size()));
  communication.groups.clear();
  communication.pattern = at->second;
  if (!is_new) return;
  auto& group_of = group_of_.emplace_back();
  for (const auto& group : at->first) {
    const auto [number, unknown] = number_.try_emplace(group, static_cast<uint32_t>(number_.size() + 1));
    if (unknown) all_.push_back(group);
    for (const int64_t device : group) group_of.try_emplace(device, number->second);
  }
}

uint32_t PrototypeGroups::GroupOf(uint32_t pattern, int64_t device) const {
  const auto& group_of = group_of_[pattern];
  const auto found = group_of.find(device);
  return found == group_of.end() ? 0 : found->second;
}

Result<trace::TraceGraph> AssembleAsPrototype(const ir::Module& module, const graph::BlockGraph& graph,
                                              const graph::EstimateTable& estimates, const Options& options) {
  const Builder builder(module, graph, estimates);
  int64_t implied = 1;
  for (const auto& group : builder.groups().all()) {
    for (const int64_t device : group) implied = std::max(implied, device + 1);
  }
  const uint32_t npus = options.num_npus.value_or(static_cast<uint32_t>(std::min<int64_t>(implied, 1 << 20)));
  trace::TraceGraph trace;
  for (const auto& group : builder.groups().all()) {
    auto& ranks = trace.groups[static_cast<uint32_t>(trace.groups.size() + 1)];
    for (const int64_t device : group) {
      if (device >= 0 && device < npus) ranks.push_back(static_cast<uint32_t>(device));
    }
  }
  SharedPrograms programs;
  for (uint32_t rank = 0; rank < npus; ++rank) {
    const uint32_t device = builder.groups().split() ? rank : 0;
    RankSignature signature;
    for (uint32_t pattern = 0; pattern < builder.groups().patterns(); ++pattern) {
      signature.AddGroup(builder.groups().GroupOf(pattern, device));
    }
    programs.Add(signature, [&] { return builder.Program(device); });
  }
  trace::TraceGraph shared = programs.Take();
  shared.groups = std::move(trace.groups);
  return shared;
}

}  // namespace hespas::assemble
