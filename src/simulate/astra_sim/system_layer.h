// The system layer of every NPU: cuts collectives into chunks, gives each a stream of phases, and lets a limited number
// of streams run in each queue (spec astra-sim section 5).
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "simulate/astra_sim/algorithms.h"
#include "simulate/astra_sim/collective_graph.h"
#include "simulate/astra_sim/stream.h"
#include "simulate/engine/core.h"
#include "trace/trace_graph.h"

namespace hespas::simulate {

class CollectiveEnds {
 public:
  virtual ~CollectiveEnds() = default;
  virtual void CollectiveEnd(uint32_t rank, uint32_t node) = 0;
};

class SystemLayer : public PhaseEnds {
 public:
  SystemLayer(Core& core, Network& network, const trace::TraceGraph& trace, CollectiveEnds& ends);

  // Starts node `index` (a collective) of `rank`'s program.
  void Request(uint32_t rank, uint32_t index, const trace::Node& node);
  void PhaseEnd(uint32_t stream) override;
  std::string Describe(const Stream& stream) const override;

  Algorithms& algorithms() { return algorithms_; }
  CollectiveGraphs& graphs() { return graphs_; }
  const Stream& stream(uint32_t index) const { return streams_[index]; }
  uint32_t NodeOf(uint32_t stream) const { return collectives_[streams_[stream].collective].node; }

 private:
  // A collective under way at one NPU.
  struct Collective {
    uint32_t rank = 0;
    uint32_t node = 0;
    uint64_t id = 0;  // of the node
    uint64_t total = 0;
    uint64_t finished = 0;
  };
  // The streams of one queue: running ones first, then waiting ones by falling priority.
  struct Queue {
    uint32_t first = kNil;
    uint32_t last = kNil;
    uint32_t first_waiting = kNil;
    uint64_t running = 0;
  };
  struct RoundRobin {
    uint32_t any = 0;
    uint32_t first = 0;
    uint32_t last = 0;
  };
  // How a collective of one kind runs in one group (or among all): chosen at its first use and kept.
  struct Plan {
    const std::vector<hardware::Algorithm>* algorithms = nullptr;
    const std::string* custom = nullptr;
    const std::vector<uint32_t>* members = nullptr;  // of a group smaller than all
    uint32_t involved = ~0u;
  };
  struct Npu {
    std::vector<RoundRobin> round_robin;  // of each dimension
    std::vector<Queue> queues;
    std::vector<uint32_t> trees_given;  // of each kind and dimension
    std::map<uint32_t, uint64_t> group_streams;
    std::map<std::pair<uint32_t, hardware::NativeCollective>, Plan> group_plans;
    int64_t priority = 0;
    uint64_t streams = 0;
  };
  struct Chunks {
    uint64_t size = 0;  // of each
    uint64_t count = 0;
  };
  struct Context {
    uint32_t rank;
    const trace::Node& node;
    hardware::NativeCollective kind;
    uint32_t group;  // 0: all ranks
  };

  const trace::NodeDetails& DetailsOf(const Context& context) const {
    return trace_.programs[trace_.program_of_rank[context.rank]].DetailsOf(context.node);
  }
  bool Choose(const Context& context, Plan& plan);
  bool ChooseForGroup(const Context& context, const std::vector<uint32_t>& members, Plan& plan);
  bool Cut(const Context& context, Chunks& chunks);
  bool MakePhases(const Context& context, const Plan& plan, uint64_t data, std::vector<Phase>& phases);
  bool AddPhase(const Context& context, const Plan& plan, hardware::NativeCollective kind, size_t dimension,
                uint64_t& data, std::vector<Phase>& phases);
  bool AddTree(const Context& context, const Plan& plan, size_t dimension, Phase& phase);
  void AssignQueue(Npu& npu, size_t dimension, char which, Phase& phase);
  uint32_t NewStream(const Context& context, uint32_t collective, int64_t priority);
  void StartCustom(const Context& context, const Plan& plan, uint32_t collective, int64_t priority);
  void EnterNextPhase(uint32_t stream);
  void Append(Queue& queue, uint32_t stream);
  void Unlink(Queue& queue, uint32_t stream);
  void Kick(uint32_t rank, uint32_t queue);
  void StartPhase(uint32_t stream);

  Core& core_;
  const trace::TraceGraph& trace_;
  CollectiveEnds& ends_;
  Pool<Stream> streams_;
  Pool<Collective> collectives_;
  Algorithms algorithms_;
  CollectiveGraphs graphs_;
  std::vector<Npu> npus_;
  std::vector<hardware::Algorithm> ring_only_;
  uint64_t running_limit_;
};

}  // namespace hespas::simulate
