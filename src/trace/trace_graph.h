// TraceGraph: what every rank executes, as Chakra execution traces say it: compute, collective and point-to-point nodes
// with dependencies.
//
// - Ranks with equal programs share one Program (a rank class); program_of_rank maps each rank to it. Programs that
//   differ in the numbers of groups and peers alone are equal too: each rank's numbers then are in `arguments`.
// - Durations are exact picoseconds; Chakra's coarser units are converted where files are read or written.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/repeated_loop.h"
#include "base/units.h"

namespace hespas::trace {

// Numbers are Chakra's.
// clang-format off
enum class NodeKind : uint8_t {
  kInvalid = 0, kMetadata = 1, kMemoryLoad = 2, kMemoryStore = 3, kCompute = 4, kSend = 5, kReceive = 6, kCollective = 7
};

enum class Collective : uint8_t {
  kAllReduce = 0, kReduce = 1, kAllGather = 2, kGather = 3, kScatter = 4, kBroadcast = 5, kAllToAll = 6,
  kReduceScatter = 7, kReduceScatterBlock = 8, kBarrier = 9
};

// clang-format on

constexpr bool IsMessage(NodeKind kind) { return kind == NodeKind::kSend || kind == NodeKind::kReceive; }

inline constexpr uint32_t kNoBlock = 0xFFFFFFFFu;

// Texts that end with a zero, in large pieces; they stay where they are.
class Names {
 public:
  const char* Add(std::string_view text) {
    const size_t needed = text.size() + 1;
    if (needed > room_) {
      room_ = std::max(needed, kPiece);
      pieces_.push_back(std::make_unique<char[]>(room_));
      next_ = pieces_.back().get();
    }
    char* added = next_;
    std::copy(text.begin(), text.end(), added);
    added[text.size()] = 0;
    next_ += needed;
    room_ -= needed;
    return added;
  }

 private:
  static constexpr size_t kPiece = size_t{1} << 15;
  std::vector<std::unique_ptr<char[]>> pieces_;
  char* next_ = nullptr;
  size_t room_ = 0;
};

// One cache line: traces have hundreds of thousands.
struct Node {
  uint64_t id = 0;
  NodeKind kind = NodeKind::kCompute;
  Collective collective = Collective::kAllReduce;  // kCollective only
  bool is_cpu = false;
  bool per_rank = false;      // `group` (collectives) or `peer` (messages) is an index into Arguments of the rank
  uint32_t block = kNoBlock;  // graph::BlockId it represents, where a program was assembled
  Time duration;              // compute
  Bytes size;          // collectives: all-gather bytes contributed per NPU, others the full buffer; messages: bytes
  uint32_t group = 0;  // key into TraceGraph::groups, 0 for all ranks
  int32_t peer = -1;   // send: destination rank; receive: source rank
  int32_t tag = 0;     // send, receive
  uint32_t first_dependency = 0;          // into Program::dependencies
  uint32_t dependency_count = 0;          // data dependencies, then control dependencies
  uint32_t control_dependency_count = 0;  // the last so many of dependency_count
  const char* name = "";                  // a literal, or of its program's names
};
static_assert(sizeof(Node) == 64);

// What few traces state of their nodes.
struct NodeDetails {
  int64_t operations = 0;              // num_ops, for the roofline mode of the simulator
  Bytes tensor_size;                   // bytes accessed by compute (roofline mode) or moved by memory nodes
  uint32_t priority = 0;               // collectives
  uint32_t involved_dimensions = ~0u;  // collectives without group: bit d set where network dimension d takes part
  uint32_t chunks = 0;                 // collective graphs without sizes: part `chunks` of `total_chunks`
  uint32_t total_chunks = 0;
  bool operator==(const NodeDetails&) const = default;
};

struct Program {
  std::vector<Node> nodes;             // ids ascending where we write them; any order where read
  std::vector<uint64_t> dependencies;  // node ids
  std::vector<NodeDetails> details;    // of the first so many nodes; the others have none
  std::shared_ptr<Names> names;        // shared by copies

  // `node` is one of `nodes`.
  const NodeDetails& DetailsOf(const Node& node) const {
    static constexpr NodeDetails kNone;
    const auto index = static_cast<size_t>(&node - nodes.data());
    return index < details.size() ? details[index] : kNone;
  }
  void SetDetails(size_t node, const NodeDetails& what) {
    if (node >= details.size()) details.resize(node + 1);
    details[node] = what;
  }
  // Keeps the text.
  const char* Name(std::string_view text) {
    if (!names) names = std::make_shared<Names>();
    return names->Add(text);
  }
};

// The numbers that one rank puts in the places of its program's.
struct Arguments {
  std::vector<uint32_t> groups;
  std::vector<int32_t> peers;

  uint32_t GroupOf(const Node& node) const {
    return node.per_rank && node.kind == NodeKind::kCollective ? groups[node.group] : node.group;
  }
  int32_t PeerOf(const Node& node) const {
    return node.per_rank && node.kind != NodeKind::kCollective ? peers[static_cast<size_t>(node.peer)] : node.peer;
  }
  bool operator==(const Arguments&) const = default;
  std::strong_ordering operator<=>(const Arguments&) const = default;
};

// What each rank of a custom collective does (sends, receives and reductions), by position in the group.
struct CollectiveGraph {
  std::map<uint32_t, Program> ranks;
};

struct TraceGraph {
  std::vector<Program> programs;
  std::vector<uint32_t> program_of_rank;             // one entry per rank (NPU)
  std::vector<Arguments> arguments;                  // one entry per rank, or none where no node is per_rank
  std::map<uint32_t, std::vector<uint32_t>> groups;  // communicator groups: id > 0 -> ranks in ring order
  std::vector<RepeatedLoop> loops;  // of which the nodes hold some iterations (simulate/engine/loops.h)
  std::map<std::string, CollectiveGraph> collectives;  // custom collectives by the path prefix of their files

  const Program& ProgramOf(uint32_t rank) const { return programs[program_of_rank[rank]]; }
  uint32_t GroupOf(uint32_t rank, const Node& node) const {
    return node.per_rank ? arguments[rank].GroupOf(node) : node.group;
  }
  int32_t PeerOf(uint32_t rank, const Node& node) const {
    return node.per_rank ? arguments[rank].PeerOf(node) : node.peer;
  }
};

}  // namespace hespas::trace
