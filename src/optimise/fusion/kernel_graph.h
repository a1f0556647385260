// The kernels of a plan while they are fused: what each reads and does, and an order in which each comes after what
// it needs.
//
// - Two kernels become one where that closes no cycle; the order is kept and only rewritten between the two.
// - Kernel numbers stay: Now() leads from a kernel to the one that it became part of.
#pragma once

#include <optional>
#include <unordered_set>
#include <vector>

#include "optimise/fusion/kernels.h"
#include "optimise/fusion/rules.h"
#include "optimise/fusion/tiled_transpose.h"
#include "optimise/fusion/unit_order.h"

namespace hespas::optimise {

// The code generator of a kernel. Kernels fuse with those of the same one; exclusive ones fuse with nothing.
enum class Emitter : uint8_t { kLoop, kSlice, kReduction, kTranspose, kTransposedReduction, kExclusive };

class KernelGraph {
 public:
  KernelGraph(const Dataflow& flow, const PassContext& context, KernelPlan& plan);

  // A value that only its own kernel reads need not be materialized.
  void DropInnerRoots();

 protected:
  struct Kernel {
    Emitter emitter = Emitter::kLoop;
    std::vector<ValueId> inputs;  // materialized values it reads
    int64_t elements = 0;         // of its loop
    size_t ops = 0;               // but bitcasts and constants
    bool dots = false;            // holds a dot that is no library call
    bool rows = false;            // reduces rows, to more than one value
    std::optional<TiledTranspose> tiled_transpose;
    int64_t shared_bytes = 0;  // memory of a thread block for its reductions and transposes
    int64_t reductions = 0;    // it holds
    int64_t columns = 0;       // results of its column reductions
    double instructions = 0;   // of the first root alone
    double heaviest_op = 0;    // instructions an element
    std::unordered_set<ValueId> dot_inputs;
    std::vector<std::pair<ValueId, NodeId>> sliced;  // inputs read by slices
    uint32_t merged_into = KernelPlan::kNone;

    bool reduces() const { return emitter == Emitter::kReduction || emitter == Emitter::kTransposedReduction; }
    bool ends_in_transpose() const {
      return emitter == Emitter::kTranspose || emitter == Emitter::kTransposedReduction;
    }
    bool is_single_op() const { return ops < 2; }
    // Computes more than additions and multiplications.
    bool is_costly() const { return heaviest_op > fusion_rules::kCostly; }
    // The slice through which alone a value is read.
    NodeId SliceOf(ValueId value) const;
  };
  // All but inputs of two kernels that become one; `kept` gives it its name and the size of its loop.
  static Kernel Merged(Kernel kept, const Kernel& other);

  // A value that is no scalar - sharing one saves nothing - and the kernels that read it, but for dot operands.
  struct Shared {
    ValueId value;
    std::vector<uint32_t> consumers;
  };
  // From the end of the program to its start, as XLA goes over producers, parameters last.
  std::vector<Shared> SharedValues() const;
  // In the order in which the kernels stand now.
  void SortConsumers(std::vector<uint32_t>& consumers) const;

  uint32_t Now(uint32_t kernel) const {
    while (plan_.roots[kernel].empty()) kernel = kernels_[kernel].merged_into;
    return kernel;
  }
  uint32_t KernelOf(ValueId value) const {
    const NodeId producer = flow_.producer(value);
    return producer.valid() ? plan_.kernel[producer.index()] : KernelPlan::kNone;
  }
  bool Reads(uint32_t consumer, uint32_t writer) const;
  // Results that come one by one while the kernel runs; a dot's do, too, where a kernel may go on with them.
  bool IsElementwise(NodeId id) const { return plan_.classes[id.index()] == FusionClass::kElement || IsDot(id); }
  bool IsDot(NodeId id) const { return IsContraction(flow_.node(id)); }

  // Whether two kernels are of one kind and size, as far as they themselves tell.
  bool MayFuse(uint32_t a, uint32_t b) const;
  // Makes one kernel of two where no cycle arises: the one that `a` and `b` are from now on, kNone where they stay.
  uint32_t TryMerge(uint32_t a, uint32_t b);

  const Dataflow& flow_;
  const PassContext& context_;
  const CompilerPolicy& policy_;
  KernelPlan& plan_;
  std::vector<Kernel> kernels_;
  std::vector<size_t> position_;  // by node: in program order
  UnitOrder units_;

 private:
  struct Contents;
  void Describe(uint32_t kernel);
  void DescribeMember(Kernel& kernel, Contents& contents, NodeId root, NodeId id);
  void DescribeReduction(Kernel& kernel, NodeId id);
  Emitter EmitterOf(const Contents& contents, NodeId root) const;
  void FindDotInputs(uint32_t kernel);
  bool EndsIn(NodeId root, NodeId id) const;
  bool IsInput(ValueId value, uint32_t kernel) const;
  void LayOut();
  bool IsUnit(NodeId id) const;
  uint32_t UnitOf(NodeId id) const;
  bool FindNeeded(uint32_t a, uint32_t b);
  void MoveUp(uint32_t a, uint32_t b);
  void Merge(uint32_t a, uint32_t b);

  Members members_;
  std::vector<uint32_t> value_seen_;  // by value: the kernel, later the merge, that last came by
  uint32_t merges_ = 0;
  std::vector<uint32_t> needed_;  // by unit: the search that last came by
  std::vector<uint32_t> found_;   // by the last search
  uint32_t search_ = 0;
  size_t looks_ = 0;  // units found by all searches
  std::vector<NodeId> work_list_;
};

}  // namespace hespas::optimise
