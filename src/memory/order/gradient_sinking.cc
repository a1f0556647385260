#include "memory/order/gradient_sinking.h"

#include "ir/facts/execution/async_start.h"
#include "ir/facts/library_call.h"
#include "ir/walk.h"
#include "memory/buffers/aliasing.h"
#include "memory/operands.h"

namespace hespas::memory {
namespace {

using ir::OpKind;

bool IsMatmul(const ir::Module& module, ir::OpId op) {
  if (ir::Traits(module.kind(op)).sort == ir::OpSort::kContraction) return true;
  const auto library = ir::LibraryKindOf(module, op);
  return library == ir::LibraryKind::kGemm || library == ir::LibraryKind::kConvolution;
}

// An async start or done counts as its collective.
OpKind KindOf(const ir::Module& module, ir::OpId op) {
  const ir::OpId start = AsyncStartOf(module, op);
  const ir::OpId collective = start.valid() ? ir::CollectiveInside(module, start) : ir::OpId();
  return module.kind(collective.valid() ? collective : op);
}

bool Reduces(const ir::Module& module, ir::OpId op) {
  const OpKind kind = KindOf(module, op);
  return kind == OpKind::kAllReduce || kind == OpKind::kReduceScatter || kind == OpKind::kCrossReplicaSum;
}

class GradientSinking {
 public:
  GradientSinking(const ir::Module& module, ir::BlockId block, std::span<const ir::OpId> order, SinkUntil until)
      : module_(module), order_(order), until_(until), waits_(module.value_count(), false) {
    FindTails(block);
  }

  std::vector<ir::OpId> Run() {
    for (size_t at = 0; at < order_.size(); ++at) Place(at);
    Release();
    Release();
    return std::move(out_);
  }

 private:
  // Ops whose results only a reduction over devices needs, with no matmul in between or after it.
  void FindTails(ir::BlockId block) {
    std::vector<bool> read(module_.value_count(), false);
    std::vector<bool> needed(module_.value_count(), false);
    std::vector<bool> feeds(module_.value_count(), false);  // a matmul
    const auto& ops = module_.block(block).ops;
    if (!ops.empty() && ir::IsTerminator(module_.kind(ops.back()))) {
      for (const ir::ValueId value : module_.operands(ops.back())) needed[value.index()] = true;
    }
    tail_.assign(order_.size(), false);
    for (size_t at = order_.size(); at-- > 0;) {
      const ir::OpId op = order_[at];
      const auto any = [&](const std::vector<bool>& of) {
        bool found = false;
        for (const ir::ValueId result : module_.results(op)) found = found || of[result.index()];
        return found;
      };
      tail_[at] = any(read) && !any(needed);
      const bool behind = any(feeds);
      const bool matmul = IsMatmul(module_, op);
      const bool passes = Reduces(module_, op) ? !behind : tail_[at] && !matmul;
      VisitOperands(module_, op, [&](ir::ValueId value) {
        read[value.index()] = true;
        if (matmul || behind) feeds[value.index()] = true;
        if (!passes) needed[value.index()] = true;
      });
    }
  }

  void Place(size_t at) {
    const ir::OpId op = order_[at];
    bool waits = false;
    VisitOperands(module_, op, [&](ir::ValueId value) { waits = waits || waits_[value.index()]; });
    const bool reduces = Reduces(module_, op);
    if ((tail_[at] && IsMatmul(module_, op)) || (waits && (tail_[at] || reduces))) {
      later_.push_back(op);
      for (const ir::ValueId result : module_.results(op)) waits_[result.index()] = true;
      return;
    }
    if (waits) {
      Release();
      Release();
    } else if (until_ == SinkUntil::kNextGather && module_.kind(op) != OpKind::kAsyncDone &&
               ir::IsCollective(KindOf(module_, op)) && !reduces) {
      Release();
    }
    out_.push_back(op);
  }

  // Ops that waited while the last collective began run; later ones wait for one more.
  void Release() {
    for (const ir::OpId op : soon_) {
      out_.push_back(op);
      for (const ir::ValueId result : module_.results(op)) waits_[result.index()] = false;
    }
    soon_ = std::move(later_);
    later_.clear();
  }

  const ir::Module& module_;
  std::span<const ir::OpId> order_;
  SinkUntil until_;
  std::vector<bool> tail_;   // by position
  std::vector<bool> waits_;  // by value: its producer has not run
  std::vector<ir::OpId> soon_;
  std::vector<ir::OpId> later_;
  std::vector<ir::OpId> out_;
};

}  // namespace

std::vector<ir::OpId> SinkWeightGradients(const ir::Module& module, ir::BlockId block, std::span<const ir::OpId> order,
                                          SinkUntil until) {
  return GradientSinking(module, block, order, until).Run();
}

}  // namespace hespas::memory
