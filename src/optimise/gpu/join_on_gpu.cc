// Source: xla/service/gpu, transforms/multi_output_fusion.cc, gpu_fusible.cc and model/gpu_performance_model.cc.
#include <algorithm>
#include <optional>

#include "optimise/dataflow/build.h"
#include "optimise/fusion/kernel_graph.h"
#include "optimise/gpu/decisions.h"
#include "optimise/gpu/kernel_use.h"

namespace hespas::optimise {
namespace {

constexpr int64_t kSmallSource = 16384;  // bytes
constexpr int64_t kSharedBytes = 49152;  // of a thread block
constexpr int64_t kReductionLimit = 8;
constexpr int64_t kSmallSlice = 1024;  // bytes: slices of less may lie apart

class GpuJoiner : public KernelGraph {
 public:
  GpuJoiner(const Dataflow& flow, const PassContext& context, KernelPlan& plan)
      : KernelGraph(flow, context, plan),
        counter_(flow, context, plan),
        readers_(flow.wire_count()),
        others_(flow.wire_count(), 0),
        first_seen_(kernels_.size()) {
    for (const WireId out : flow.outputs) others_[out.index()] = 1;
    for (size_t i = flow.order().size(); i-- > 0;) {
      const NodeId id = flow.order()[i];
      const bool view = plan.classes[id.index()] == FusionClass::kView;
      const bool others =
          plan.classes[id.index()] == FusionClass::kBarrier || (view && others_[flow.result(id).index()]);
      if (!others) continue;
      for (const WireId operand : flow.node(id).operands) others_[operand.index()] = 1;
    }
    for (uint32_t k = 0; k < kernels_.size(); ++k) {
      for (const WireId wire : kernels_[k].inputs) readers_[wire.index()].push_back(k);
    }
  }

  void Run() {
    // Converts of a value stand behind its other readers.
    JoinWithReaders(true);
    JoinWithReaders(false);
    std::vector<Shared> shared = SharedValues();
    JoinSiblings(shared, false);
    JoinSiblings(shared, true);
    DropInnerRoots();
  }

 private:
  // A stored result with a reader of the same size: the reader can store it along the way. From the end of the program
  // to its start.
  void JoinWithReaders(bool turning) {
    for (size_t i = flow_.order().size(); i-- > 0;) {
      const NodeId id = flow_.order()[i];
      if (!plan_.stored[id.index()] || !IsElementwise(id)) continue;
      const WireId wire = flow_.result(id);
      std::vector<uint32_t> readers;
      for (const uint32_t k : readers_[wire.index()]) readers.push_back(Now(k));
      std::sort(readers.begin(), readers.end(),
                [&](uint32_t a, uint32_t b) { return units_.place(a) < units_.place(b); });
      readers.erase(std::unique(readers.begin(), readers.end()), readers.end());
      const uint32_t maker = plan_.kernel[id.index()];
      if (HasOneUser(wire, readers)) continue;
      for (uint32_t reader : readers) {
        if (reader == maker || (turning && !kernels_[reader].turns)) continue;
        if (!MayJoin(reader, maker) || !FitInBlock(reader, maker) || !ColumnsAgree(reader, maker, true)) continue;
        if (PaysToJoin(maker, reader, wire) && JoinAs(reader, maker)) break;
      }
    }
  }

  // XLA does not look at a value of one user, unless that has several results.
  bool HasOneUser(WireId wire, const std::vector<uint32_t>& readers) const {
    if (others_[wire.index()] || readers.size() > 1) return false;
    return readers.empty() || plan_.roots[readers[0]].size() == 1;
  }

  // Readers of large data first; what reads the same vector joins where it is left over.
  void JoinSiblings(std::vector<Shared>& shared, bool small) {
    for (auto& [wire, readers] : shared) {
      if (readers.size() < 2 || IsSmall(wire) != small) continue;
      SortByPriority(readers);
      for (size_t i = 0; i + 1 < readers.size(); ++i) {
        for (size_t j = i + 1; j < std::min(readers.size(), i + kSiblings); ++j) {
          const uint32_t a = Now(readers[i]);
          const uint32_t b = Now(readers[j]);
          if (kernels_[a].alone) break;
          if (a == b || (small && (Reads(a, b) || Reads(b, a)))) continue;
          if (MayJoin(a, b) && FitInBlock(a, b) && TurnsAgree(a, b) && ColumnsAgree(a, b, false) &&
              !ReadApart(a, b, wire))
            Join(a, b);
        }
      }
    }
  }

  // XLA's FusionPriority: kernels of several results, then others, then single ops.
  void SortByPriority(std::vector<uint32_t>& readers) const {
    SortReaders(readers);
    const auto priority = [&](uint32_t kernel) {
      const uint32_t now = Now(kernel);
      return plan_.roots[now].size() > 1 ? 2 : kernels_[now].alone ? 0 : 1;
    };
    std::stable_sort(readers.begin(), readers.end(), [&](uint32_t a, uint32_t b) { return priority(a) > priority(b); });
  }

  // A vector that is worth less than a kernel's launch.
  bool IsSmall(WireId wire) const { return flow_.ByteSize(wire) <= kSmallSource; }

  // XLA's FusionFitsInBudget.
  bool FitInBlock(uint32_t a, uint32_t b) const {
    const Kernel& x = kernels_[a];
    const Kernel& y = kernels_[b];
    return x.shared_bytes + y.shared_bytes <= kSharedBytes && x.reductions + y.reductions <= kReductionLimit;
  }

  bool TurnsAgree(uint32_t a, uint32_t b) const {
    const auto& x = kernels_[a].turn;
    const auto& y = kernels_[b].turn;
    return !x || !y || *x == *y;
  }

  // Column reductions go together where little is computed for them; with anything else only where one reads what the
  // other stores.
  bool ColumnsAgree(uint32_t a, uint32_t b, bool reads) const {
    const Kernel& x = kernels_[a];
    const Kernel& y = kernels_[b];
    if ((x.columns == 0) != (y.columns == 0)) return reads;
    return x.columns == y.columns && (x.columns == 0 || (!x.costly && !y.costly));
  }

  // Whether each reads its own slice of a value, and no element is in both.
  bool ReadApart(uint32_t a, uint32_t b, WireId wire) const {
    const NodeId x = kernels_[a].SliceOf(wire);
    const NodeId y = kernels_[b].SliceOf(wire);
    if (!x.valid() || !y.valid() || flow_.ByteSize(wire) < kSmallSlice) return false;
    const auto starts_x = IntegersOf(flow_, flow_.node(x), "start_indices");
    const auto limits_x = IntegersOf(flow_, flow_.node(x), "limit_indices");
    const auto starts_y = IntegersOf(flow_, flow_.node(y), "start_indices");
    const auto limits_y = IntegersOf(flow_, flow_.node(y), "limit_indices");
    if (!starts_x || !limits_x || !starts_y || !limits_y) return false;
    for (size_t d = 0; d < std::min(limits_x->size(), limits_y->size()); ++d) {
      if ((*starts_x)[d] >= (*limits_y)[d] || (*starts_y)[d] >= (*limits_x)[d]) return true;
    }
    return false;
  }

  // XLA looks up a kernel's time under its name, where it finds what the kernel took when it was first asked about:
  // what joined it since does not count.
  const KernelUse& FirstSeen(uint32_t kernel) {
    if (!first_seen_[kernel]) first_seen_[kernel] = counter_.Count(kernel);
    return *first_seen_[kernel];
  }

  // The maker's work counts once for each root of the reader in which its result is used.
  bool PaysToJoin(uint32_t maker, uint32_t reader, WireId wire) {
    const KernelUse made = counter_.Count(maker);
    const KernelUse& before = FirstSeen(reader);
    const KernelUse now = counter_.Count(reader);
    const KernelUse::Read* through = now.Of(wire);
    if (through == nullptr) return false;
    const double blocks = kernels_[reader].reduces ? now.blocks : std::max(now.blocks, made.blocks);
    std::vector<double> facts = {made.operations,
                                 made.written,
                                 made.blocks,
                                 before.operations,
                                 before.written,
                                 before.blocks,
                                 through->times,
                                 blocks,
                                 static_cast<double>(made.reads.size()),
                                 static_cast<double>(before.reads.size())};
    const auto add = [&](double size, double times) {
      facts.push_back(size);
      facts.push_back(size * times);
    };
    for (const auto& read : made.reads) add(read.size, read.times);
    for (const auto& read : before.reads) add(read.size, read.times);
    now.ReadWith(made, *through, [&](const KernelUse::Read& read, double times) {
      if (KernelOf(read.wire) != maker || made.Of(read.wire) != nullptr) add(read.size, times);
    });
    Question question{QuestionKind::kJoin, std::move(facts)};
    if (context_.decisions == nullptr) return Answer(question, context_.gpu);
    return context_.decisions->Ask(std::move(question), context_.gpu);
  }

  // Joins `other` to `kernel`, which keeps its name; the number under which it goes on is put into `kernel`.
  bool JoinAs(uint32_t& kernel, uint32_t other) {
    const uint32_t whole = Join(kernel, other);
    if (whole == KernelPlan::kNone) return false;
    if (whole != kernel) first_seen_[whole] = std::move(first_seen_[kernel]);
    kernel = whole;
    return true;
  }

  KernelCounter counter_;
  std::vector<std::vector<uint32_t>> readers_;        // by wire: kernels that read it, before any was joined
  std::vector<char> others_;                          // by wire: has users that are no kernels
  std::vector<std::optional<KernelUse>> first_seen_;  // by kernel
};

}  // namespace

void JoinOnGpu(const Dataflow& flow, const PassContext& context, KernelPlan& plan) {
  GpuJoiner(flow, context, plan).Run();
}

}  // namespace hespas::optimise
