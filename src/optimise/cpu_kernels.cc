// Which ops share a loop on a processor, by the rules of XLA's CPU compiler (InstructionFusion and CpuInstructionFusion
// in xla/service): a producer goes into all of its readers or into none.
#include <algorithm>

#include "optimise/kernels.h"

namespace hespas::optimise {
namespace {

using ir::OpKind;
using ir::OpSort;

constexpr double kExpensive = 5;  // scalar instructions an element; divisions count as cheap there

class CpuPlanner {
 public:
  CpuPlanner(const Dataflow& flow, bool explain) : flow_(flow), users_(flow.Users()), in_memory_(flow.node_count(), 0) {
    plan_.classes.resize(flow.node_count());
    plan_.stored.assign(flow.node_count(), 0);
    plan_.kernel.assign(flow.node_count(), KernelPlan::kNone);
    if (explain) plan_.reasons.resize(flow.node_count());
    for (const NodeId id : flow.order()) plan_.classes[id.index()] = ClassOf(flow, flow.node(id));
  }

  KernelPlan Run() {
    for (const WireId out : flow_.outputs) {
      if (flow_.maker(out).valid()) in_memory_[flow_.maker(out).index()] = 1;
    }
    for (size_t i = flow_.order().size(); i-- > 0;) Decide(flow_.order()[i]);
    return std::move(plan_);
  }

 private:
  FusionClass Class(NodeId id) const { return plan_.classes[id.index()]; }
  int64_t Elements(NodeId id) const { return flow_.type(flow_.result(id)).element_count(); }

  // Loops over anything but the fastest dimension have code of their own that takes nothing in.
  bool TakesProducersIn(NodeId id) const {
    const Node& node = flow_.node(id);
    if (Class(id) == FusionClass::kBarrier) return false;
    return Class(id) != FusionClass::kReduce ||
           (node.kind == OpKind::kReduce && node.result_count == 1 && ReducesRows(flow_, node));
  }

  bool IsExpensive(NodeId id) const {
    const Node& node = flow_.node(id);
    return Class(id) == FusionClass::kReduce ||
           (node.kind != OpKind::kDivide && InstructionWeight(node.kind) >= kExpensive);
  }

  // Computing it again reads no more than its result.
  bool ReadsOneValue(NodeId id) const {
    const auto& operands = flow_.node(id).operands;
    return std::count_if(operands.begin(), operands.end(), [&](WireId operand) {
             const NodeId maker = flow_.maker(operand);
             const bool made_in_place = maker.valid() && Class(maker) == FusionClass::kCheap;
             return !made_in_place && flow_.type(operand).element_count() >= Elements(id);
           }) <= 1;
  }

  // What reads a node: those behind views of it count in their place.
  struct Readers {
    size_t count = 0;
    bool all_take_it = true;
    bool larger = false;  // one asks for its elements several times
  };

  Readers ReadersOf(NodeId id) const {
    Readers readers;
    std::vector<NodeId> todo = {id};
    while (!todo.empty()) {
      const NodeId at = todo.back();
      todo.pop_back();
      readers.all_take_it = readers.all_take_it && in_memory_[at.index()] == 0;
      const Node& node = flow_.node(at);
      for (uint32_t r = 0; r < node.result_count; ++r) {
        for (const NodeId user : users_[node.first_result.index() + r]) {
          if (Class(user) == FusionClass::kView) {
            todo.push_back(user);
            continue;
          }
          ++readers.count;
          readers.all_take_it = readers.all_take_it && TakesProducersIn(user);
          const OpSort sort = ir::Traits(flow_.node(user).kind).sort;
          readers.larger |= sort != OpSort::kReduction && Elements(user) > Elements(id);
        }
      }
    }
    return readers;
  }

  void Decide(NodeId id) {
    const Node& node = flow_.node(id);
    const FusionClass kind = Class(id);
    if (kind == FusionClass::kBarrier || kind == FusionClass::kView || node.result_count == 0) return;
    const Readers readers = ReadersOf(id);
    if (kind == FusionClass::kCheap) {
      if (!readers.all_take_it && node.kind != OpKind::kConstant) Store(id, "read by an op that needs it in memory");
      return;
    }
    if (!readers.all_take_it) return Store(id, "returned, or read by an op that takes nothing in");
    if (readers.count == 0) return;
    if (!TakesProducersIn(id)) return Store(id, "a loop of its own");
    if (IsExpensive(id) && (readers.larger || readers.count > 1))
      return Store(id, "too expensive to compute more than once for each element");
    if (readers.count > 1 && !ReadsOneValue(id)) return Store(id, "computing it in each reader would read more");
    if (!plan_.reasons.empty()) plan_.reasons[id.index()] = "its readers take it in";
  }

  void Store(NodeId id, std::string_view reason) {
    plan_.stored[id.index()] = 1;
    plan_.kernel[id.index()] = static_cast<uint32_t>(plan_.roots.size());
    plan_.roots.push_back({id});
    if (!plan_.reasons.empty()) plan_.reasons[id.index()] = reason;
  }

  const Dataflow& flow_;
  UserTable users_;
  std::vector<char> in_memory_;  // by node: returned
  KernelPlan plan_;
};

}  // namespace

KernelPlan PlanCpuKernels(const Dataflow& flow, bool explain) { return CpuPlanner(flow, explain).Run(); }

}  // namespace hespas::optimise
