#include "assemble/assemble.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "assemble/collective.h"
#include "assemble/compute_stream.h"
#include "assemble/prototype.h"
#include "assemble/rank_signature.h"
#include "ir/facts/execution/asynchronous.h"
#include "ir/facts/execution/pipelined.h"
#include "ir/facts/library_call.h"
#include "trace/asynchronous.h"
#include "trace/priority.h"
#include "trace/rank_classes.h"

namespace hespas::assemble {
namespace {

using graph::BlockId;
using graph::BlockKind;
using trace::NodeKind;

constexpr uint32_t kMostNpus = 1u << 20;

// Peers of one rank in one pattern of messages.
struct Peers {
  Ranks to;
  Ranks from;
};

// Who talks with whom, for every communication of the program; equal patterns are kept once.
class Membership {
 public:
  // Numbers the communicators of one collective; the same list of groups gets the same index.
  uint32_t AddGroups(const std::vector<Ranks>& groups) {
    const auto [found, is_new] = group_index_.try_emplace(groups, static_cast<uint32_t>(groups_.size()));
    if (is_new) groups_.push_back(&found->first);
    return found->second;
  }
  uint32_t AddMessages(const std::vector<std::pair<uint32_t, uint32_t>>& messages) {
    const auto [found, is_new] = message_index_.try_emplace(messages, static_cast<uint32_t>(messages_.size()));
    if (is_new) messages_.push_back(&found->first);
    return found->second;
  }

  // Lays the program out on `copies` times `needed` ranks of `total`.
  void Expand(uint32_t needed, uint32_t copies, uint32_t total, trace::TraceGraph& trace) {
    group_of_.assign(groups_.size(), std::vector<uint32_t>(total, 0));
    std::map<Ranks, uint32_t> ids;
    for (uint32_t copy = 0; copy < copies; ++copy) {
      for (size_t g = 0; g < groups_.size(); ++g) {
        for (Ranks ranks : *groups_[g]) {
          for (uint32_t& rank : ranks) rank += copy * needed;
          const auto [found, is_new] = ids.try_emplace(ranks, static_cast<uint32_t>(ids.size() + 1));
          if (is_new) trace.groups[found->second] = ranks;
          for (const uint32_t rank : ranks) group_of_[g][rank] = found->second;
        }
      }
    }
    peers_.assign(messages_.size(), std::vector<Peers>(total));
    for (size_t m = 0; m < messages_.size(); ++m) {
      for (uint32_t copy = 0; copy < copies; ++copy) {
        for (const auto& [from, to] : *messages_[m]) {
          peers_[m][from + copy * needed].to.push_back(to + copy * needed);
          peers_[m][to + copy * needed].from.push_back(from + copy * needed);
        }
      }
    }
  }

  uint32_t group(uint32_t index, uint32_t rank) const { return group_of_[index][rank]; }
  const Peers& peers(uint32_t index, uint32_t rank) const { return peers_[index][rank]; }

  // Whom the rank talks to, pattern by pattern. Groups of one member are none: nothing is exchanged there.
  RankSignature SignatureOf(uint32_t rank, const trace::TraceGraph& trace) const {
    RankSignature out;
    for (const auto& groups : group_of_) {
      const auto found = trace.groups.find(groups[rank]);
      out.AddGroup(found != trace.groups.end() && found->second.size() > 1 ? found->first : 0);
    }
    for (const auto& peers : peers_) {
      out.AddPeers(peers[rank].to);
      out.AddPeers(peers[rank].from);
    }
    return out;
  }

 private:
  std::map<std::vector<Ranks>, uint32_t> group_index_;
  std::map<std::vector<std::pair<uint32_t, uint32_t>>, uint32_t> message_index_;
  std::vector<const std::vector<Ranks>*> groups_;
  std::vector<const std::vector<std::pair<uint32_t, uint32_t>>*> messages_;
  std::vector<std::vector<uint32_t>> group_of_;  // by pattern and rank; 0: no member
  std::vector<std::vector<Peers>> peers_;
};

void SetWork(const graph::Estimate& estimate, size_t node, trace::Program& program) {
  program.nodes[node].duration = std::max(estimate.time, Time());
  program.SetDetails(node, {.operations = estimate.flops.value, .tensor_size = estimate.bytes});
}

class Assembler {
 public:
  Assembler(const ir::Module& module, const graph::BlockGraph& graph, const graph::EstimateTable& estimates,
            const Options& options, Diagnostics& diagnostics)
      : module_(module),
        graph_(graph),
        estimates_(estimates),
        options_(options),
        diagnostics_(diagnostics),
        devices_(DeviceCountsOf(module)) {}

  Result<trace::TraceGraph> Run() {
    if (Status read = ReadCommunications(); !read) return read.error();
    if (Status counted = CountNpus(); !counted) return counted.error();
    RegisterPatterns();
    trace::TraceGraph trace;
    membership_.Expand(needed_, copies_, total_, trace);
    WarnOfMissingMembers();
    MakeClasses(trace);
    trace.loops = graph_.loops;
    return trace;
  }

 private:
  struct Entry {
    Communication what;
    uint32_t pattern = 0;
  };

  Status ReadCommunications() {
    communication_of_.assign(graph_.blocks.size(), 0);
    for (size_t i = 0; i < graph_.blocks.size(); ++i) {
      if (graph_.blocks[i].kind != BlockKind::kCommunication) continue;
      const ir::OpId op = CollectiveOfBlock(module_, graph_.blocks[i]);
      Communication decoded{.nothing = true};
      const auto open = op.valid() && options_.open_channels ? DecodeOpenMessage(module_, op) : std::nullopt;
      if (open) {
        decoded = *open;
      } else if (op.valid()) {
        auto result = DecodeCommunication(module_, op, devices_, groups_, diagnostics_);
        if (!result) return result.error();
        decoded = *std::move(result);
      }
      communication_of_[i] = static_cast<uint32_t>(communications_.size());
      communications_.push_back({.what = std::move(decoded)});
    }
    return {};
  }

  Status CountNpus() {
    uint64_t needed = uint64_t{devices_.replicas} * devices_.partitions;
    bool everyone = false;
    const Entry* largest = nullptr;
    const auto require = [&](uint32_t rank, const Entry& entry) {
      if (rank < needed) return;
      needed = uint64_t{rank} + 1;
      largest = &entry;
    };
    Groups last;
    for (const Entry& entry : communications_) {
      everyone |= entry.what.everyone;
      if (entry.what.groups && entry.what.groups != std::exchange(last, entry.what.groups)) {
        for (const Ranks& group : *entry.what.groups) {
          for (const uint32_t rank : group) require(rank, entry);
        }
      }
      for (const auto& [from, to] : entry.what.messages) require(std::max(from, to), entry);
    }
    const uint64_t total = options_.num_npus.value_or(static_cast<uint32_t>(std::min<uint64_t>(needed, kMostNpus + 1)));
    if (total > kMostNpus) return MakeError(kTooManyNpus, fmt::format("{} NPUs are more than {}", total, kMostNpus));
    if (total < needed) {
      const Location at = largest != nullptr ? module_.location(largest->what.op) : Location{.file = module_.path()};
      return MakeError(kTooFewNpus, fmt::format("the program runs on {} NPUs, but --num-npus is {}", needed, total), at,
                       fmt::format("use --num-npus {} or a multiple of it", needed));
    }
    // Without any count in the program, "all devices" means all there are.
    if (needed == 1 && everyone) needed = total;
    needed_ = static_cast<uint32_t>(needed);
    total_ = static_cast<uint32_t>(total);
    copies_ = total_ / needed_;
    if (total_ % needed_ != 0) {
      diagnostics_.Warning(kIdleNpus, fmt::format("{} NPUs run {} cop{} of a program for {}; {} idle", total_, copies_,
                                                  copies_ == 1 ? "y" : "ies", needed_, total_ % needed_));
    } else if (needed_ > 1 && copies_ > 1 && !options_.compat) {
      diagnostics_.Warning(
          kCopies,
          fmt::format("{} NPUs run {} copies of a program for {}, which exchange nothing", total_, copies_, needed_),
          {}, fmt::format("--retarget {} spreads the program over all of them", total_));
    }
    return {};
  }

  void RegisterPatterns() {
    std::map<Groups, uint32_t> patterns;
    for (Entry& entry : communications_) {
      if (entry.what.nothing || entry.what.open) continue;
      if (entry.what.point_to_point) {
        entry.pattern = membership_.AddMessages(entry.what.messages);
        continue;
      }
      if (entry.what.everyone && (copies_ > 1 || total_ != needed_)) {
        Ranks all(needed_);
        for (uint32_t rank = 0; rank < needed_; ++rank) all[rank] = rank;
        entry.what.groups = std::make_shared<std::vector<Ranks>>(1, std::move(all));
        entry.what.everyone = false;
      }
      if (entry.what.everyone) continue;
      const auto [known, added] = patterns.try_emplace(entry.what.groups);
      if (added) known->second = membership_.AddGroups(*entry.what.groups);
      entry.pattern = known->second;
    }
  }

  void WarnOfMissingMembers() {
    std::set<uint32_t> complete;
    for (const Entry& entry : communications_) {
      if (entry.what.nothing || entry.what.point_to_point || entry.what.everyone) continue;
      if (!complete.insert(entry.pattern).second) continue;
      for (uint32_t rank = 0; rank < needed_; ++rank) {
        if (membership_.group(entry.pattern, rank) != 0) continue;
        diagnostics_.Warning(kMemberMissing,
                             fmt::format("NPU {} is in no replica group of `{}`", rank, module_.name(entry.what.op)),
                             module_.location(entry.what.op));
        return;
      }
    }
  }

  void MakeClasses(trace::TraceGraph& trace) {
    SharedPrograms programs;
    for (uint32_t rank = 0; rank < copies_ * needed_; ++rank) {
      programs.Add(membership_.SignatureOf(rank, trace), [&] { return MakeProgram(rank, trace); });
    }
    RankSignature idle;
    idle.shape = {trace::kNoBlock};
    for (uint32_t rank = copies_ * needed_; rank < total_; ++rank) programs.Add(idle, [] { return trace::Program(); });
    trace::TraceGraph shared = programs.Take();
    shared.groups = std::move(trace.groups);
    trace = std::move(shared);
  }

  trace::Program MakeProgram(uint32_t rank, const trace::TraceGraph& trace) {
    trace::Program program;
    program.nodes.reserve(graph_.blocks.size());
    first_node_.assign(graph_.blocks.size() + 1, 0);
    stream_ = {};
    for (size_t i = 0; i < graph_.blocks.size(); ++i) {
      first_node_[i] = program.nodes.size();
      const graph::Block& block = graph_.blocks[i];
      if (block.kind == BlockKind::kCompute) {
        AddCompute(BlockId(i), program);
      } else {
        AddCommunication(i, rank, trace, program);
      }
      first_node_[i + 1] = program.nodes.size();
    }
    return program;
  }

  // Appends a node that waits for everything the block waits for.
  trace::Node& AddNode(const graph::Block& block, NodeKind kind, trace::Program& program) {
    trace::Node& node = program.nodes.emplace_back();
    node.block = static_cast<uint32_t>(&block - graph_.blocks.data());
    node.id = program.nodes.size() - 1;
    node.kind = kind;
    node.first_dependency = static_cast<uint32_t>(program.dependencies.size());
    for (const BlockId p : block.predecessors) {
      for (size_t n = first_node_[p.index()]; n < first_node_[p.index() + 1]; ++n) program.dependencies.push_back(n);
    }
    node.dependency_count = static_cast<uint32_t>(program.dependencies.size()) - node.first_dependency;
    if (!block.ops.empty()) node.name = program.Name(module_.name(block.ops.back()));
    return node;
  }

  void AddCompute(BlockId id, trace::Program& program) {
    const graph::Block& block = graph_.blocks[id.index()];
    AddNode(block, NodeKind::kCompute, program);
    program.nodes.back().is_cpu = MovesToOrFromHost(block);
    if (!program.nodes.back().is_cpu) stream_.Add(program);
    const bool pipelined = !block.ops.empty() && module_.attribute(block.ops.back(), ir::kPipelined) != nullptr;
    if (pipelined) program.nodes.back().tag = trace::kRunsFirst;
    if (const graph::Estimate* estimate = estimates_.Of(id)) SetWork(*estimate, program.nodes.size() - 1, program);
  }

  // Copies between device and host memory run beside computation, as XLA's copy-start and copy-done do.
  bool MovesToOrFromHost(const graph::Block& block) const {
    if (block.ops.empty() || module_.kind(block.ops.back()) != ir::OpKind::kCustomCall) return false;
    const std::string target = ir::CallTarget(module_, block.ops.back());
    return target == "MoveToHost" || target == "MoveToDevice";
  }

  void AddCommunication(size_t i, uint32_t rank, const trace::TraceGraph& trace, trace::Program& program) {
    const graph::Block& block = graph_.blocks[i];
    const Entry& entry = communications_[communication_of_[i]];
    if (entry.what.open) {
      trace::Node& node = AddNode(block, entry.what.receives ? NodeKind::kReceive : NodeKind::kSend, program);
      node.peer = -1;
      node.tag = entry.what.channel;
      node.size = entry.what.size;
      return;
    }
    if (entry.what.point_to_point && !entry.what.nothing) {
      AddMessages(i, entry, rank, program);
      return;
    }
    const uint32_t group = entry.what.everyone || entry.what.nothing ? 0 : membership_.group(entry.pattern, rank);
    const auto members = trace.groups.find(group);
    const size_t size = group != 0 ? members->second.size() : entry.what.everyone ? total_ : 1;
    if (entry.what.nothing || size < 2) {
      AddNode(block, NodeKind::kCompute, program);  // nothing to exchange, but a step in the order of things
      return;
    }
    trace::Node& node = AddNode(block, NodeKind::kCollective, program);
    node.collective = entry.what.kind;
    node.size = entry.what.size;
    node.group = group;
    node.tag = TagOf(block, entry.what.op);
    if (trace::IsInComputeStream(node)) stream_.Add(program);
  }

  int32_t TagOf(const graph::Block& block, ir::OpId collective) const {
    if (module_.attribute(collective, ir::kSynchronous) != nullptr) return trace::kInComputeStream;
    if (IsAsynchronous(block, collective)) return trace::kAsynchronous;
    const std::string_view* carried = module_.attribute(collective, ir::kSparseCore);
    if (carried == nullptr) return 0;
    return *carried == "true" ? trace::kOnSparseCores : trace::kOnTensorCores;
  }

  bool IsAsynchronous(const graph::Block& block, ir::OpId collective) const {
    if (module_.attribute(collective, ir::kAsynchronous) != nullptr) return true;
    return std::any_of(block.ops.begin(), block.ops.end(),
                       [&](ir::OpId op) { return module_.kind(op) == ir::OpKind::kAsyncStart; });
  }

  void AddMessages(size_t i, const Entry& entry, uint32_t rank, trace::Program& program) {
    const graph::Block& block = graph_.blocks[i];
    const Peers& peers = membership_.peers(entry.pattern, rank);
    const bool in_stream = module_.attribute(entry.what.op, ir::kSynchronous) != nullptr;
    const auto add = [&](NodeKind kind, uint32_t peer) {
      trace::Node& node = AddNode(block, kind, program);
      node.peer = static_cast<int32_t>(peer);
      node.tag = static_cast<int32_t>(communication_of_[i]);
      node.size = entry.what.size;
      if (in_stream) stream_.AddMessage(program);
    };
    for (const uint32_t peer : peers.to) add(NodeKind::kSend, peer);
    for (const uint32_t peer : peers.from) add(NodeKind::kReceive, peer);
    stream_.EndMessages();
    if (peers.to.empty() && peers.from.empty()) AddNode(block, NodeKind::kCompute, program);
  }

  const ir::Module& module_;
  const graph::BlockGraph& graph_;
  const graph::EstimateTable& estimates_;
  const Options& options_;
  Diagnostics& diagnostics_;
  DeviceCounts devices_;

  GroupCache groups_;
  std::vector<Entry> communications_;
  std::vector<uint32_t> communication_of_;  // by block
  Membership membership_;
  uint32_t needed_ = 1;  // ranks of one copy of the program
  uint32_t copies_ = 1;
  uint32_t total_ = 1;
  std::vector<size_t> first_node_;  // by block, of the program under construction
  ComputeStream stream_;            // of the same
};

}  // namespace

Result<trace::TraceGraph> Assemble(const ir::Module& module, const graph::BlockGraph& graph,
                                   const graph::EstimateTable& estimates, const Options& options,
                                   Diagnostics& diagnostics) {
  if (options.compat) return AssembleAsPrototype(module, graph, estimates, options);
  return Assembler(module, graph, estimates, options, diagnostics).Run();
}

void SetDurations(const graph::EstimateTable& estimates, trace::TraceGraph& traces) {
  for (trace::Program& program : traces.programs) {
    for (size_t i = 0; i < program.nodes.size(); ++i) {
      const trace::Node& node = program.nodes[i];
      if (node.kind != NodeKind::kCompute || node.block >= estimates.of_block.size()) continue;
      const graph::Estimate* estimate = estimates.Of(BlockId(size_t{node.block}));
      if (estimate != nullptr) SetWork(*estimate, i, program);
    }
  }
}

}  // namespace hespas::assemble
