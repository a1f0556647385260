// The workload layer of every NPU: issues the nodes of its program whose dependencies are met, in ascending order of
// id, into one CPU, one compute and one communication slot (spec astra-sim section 8). Beyond ASTRA-sim, a collective
// in the stream of the computation takes the compute and the communication slot, and computation behind it waits for
// it.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "simulate/astra_sim/network.h"
#include "simulate/astra_sim/system_layer.h"
#include "simulate/engine/core.h"
#include "simulate/engine/memory.h"
#include "simulate/engine/statistics.h"
#include "trace/trace_graph.h"

namespace hespas::simulate {

enum class Slot : uint8_t { kCpu, kCompute, kCommunication, kNone, kComputeStream };

// A program in ascending order of ids, with its dependencies inverted. Records of equal id are one node: the last
// gives the contents, the dependencies are merged.
struct CompiledProgram {
  const trace::Program* program = nullptr;
  std::vector<uint32_t> records;      // of the nodes; empty: the program's own
  std::vector<uint32_t> parents;      // number; handed to the last rank that runs the program
  std::vector<uint32_t> first_child;  // into children; one more than nodes
  std::vector<uint32_t> children;

  uint32_t size() const { return static_cast<uint32_t>(records.empty() ? program->nodes.size() : records.size()); }
  const trace::Node& node(uint32_t i) const { return program->nodes[records.empty() ? i : records[i]]; }
  const trace::NodeDetails& details(uint32_t i) const { return program->DetailsOf(node(i)); }
};

Result<CompiledProgram> CompileProgram(const trace::Program& program, uint32_t rank);

class Workload : public CollectiveEnds {
 public:
  Workload(Core& core, Network& network, const trace::TraceGraph& trace, Statistics& statistics);

  Status Load();
  void Start(uint32_t rank);
  void NodeDone(uint32_t rank, uint32_t node);
  void CollectiveEnd(uint32_t rank, uint32_t node) override { NodeDone(rank, node); }
  void MemoryFree(uint32_t unit) { memory_.Free(unit); }

  SystemLayer& system_layer() { return system_layer_; }
  bool finished(uint32_t rank) const { return npus_[rank].finished; }
  size_t done() const { return done_; }  // nodes, of all ranks
  const CompiledProgram& program(uint32_t rank) const { return programs_[trace_.program_of_rank[rank]]; }
  // Nodes in the NPU's slots, and one that waits for its dependencies.
  const std::vector<uint32_t>& Occupants(uint32_t rank) const { return npus_[rank].occupants; }
  std::optional<uint32_t> Unissued(uint32_t rank) const;

 private:
  static constexpr uint32_t kNothing = 0xFFFFFFFFu;

  struct Npu {
    std::vector<uint32_t> parents_left;
    std::array<std::vector<uint32_t>, 5> ready;  // heaps of free nodes, by slot
    std::vector<uint32_t> fresh;                 // freed while pumping
    std::array<uint32_t, 3> occupied{};          // nodes in each slot
    std::vector<uint32_t> occupants;
    uint32_t taken = 0;
    bool pumping = false;
    bool finished = false;
  };

  bool Runs(uint32_t rank) const { return core_.classes == nullptr || core_.classes->first(rank) == rank; }
  void Pump(uint32_t rank);
  uint32_t NextReady(Npu& npu);
  bool MayIssue(const Npu& npu, Slot slot) const;
  bool HasRoom(const Npu& npu, Slot slot) const {
    const uint32_t capacity = slot == Slot::kCommunication ? core_.options.communication_streams : 1;
    return npu.occupied[static_cast<size_t>(slot)] < capacity;
  }
  static void Occupy(Npu& npu, Slot slot, bool begins);
  void MakeReady(uint32_t rank, uint32_t node);
  void Issue(uint32_t rank, uint32_t node);
  void IssueByKind(uint32_t rank, uint32_t index, const trace::Node& node);
  void IssueCompute(uint32_t rank, uint32_t index, const trace::Node& node);
  void IssueRoofline(uint32_t rank, uint32_t index, const trace::Node& node);
  void IssueMessage(uint32_t rank, uint32_t index, const trace::Node& node);
  void IssueCollective(uint32_t rank, uint32_t index, const trace::Node& node);
  void Release(uint32_t rank, uint32_t node);
  void CheckFinished(uint32_t rank);
  uint64_t DurationTicks(uint32_t rank, const trace::Node& node) const;
  void Wait(uint32_t rank, uint64_t delay, uint32_t node) {
    core_.agenda.Schedule(rank, delay, {ActionKind::kNodeDone, node});
  }

  Core& core_;
  Network& network_;
  const trace::TraceGraph& trace_;
  Statistics& statistics_;
  size_t done_ = 0;
  SystemLayer system_layer_;
  RemoteMemoryUnits memory_;
  std::vector<CompiledProgram> programs_;
  std::vector<Npu> npus_;
};

}  // namespace hespas::simulate
