#include "estimate/external/op_model.h"

#include "estimate/cost.h"
#include "estimate/fusion_cost.h"

namespace hespas::estimate {
namespace {

enum Contributor : uint8_t { kModel = 1, kFallback = 2 };

double Seconds(const graph::Estimate& estimate, std::string_view name) {
  for (const graph::Term& term : estimate.terms) {
    if (term.name == name) return term.time.seconds();
  }
  return 0;
}

Work ToWork(const graph::Estimate& estimate) {
  const double sigma = estimate.sigma.seconds();
  return {.seconds = estimate.time.seconds(),
          .variance = sigma * sigma,
          .compute_seconds = Seconds(estimate, graph::kComputeTerm),
          .limited_seconds = estimate.limited.seconds(),
          .memory_seconds = Seconds(estimate, graph::kMemoryTerm),
          .launch_seconds = Seconds(estimate, "launch"),
          .flops = estimate.flops.value,
          .bytes = estimate.bytes.value,
          .models = kFallback};
}

Work AsWork(const OpTime& time) {
  return {.seconds = time.seconds,
          .variance = time.sigma_seconds * time.sigma_seconds,
          .compute_seconds = time.compute_seconds,
          .memory_seconds = time.memory_seconds,
          .models = kModel};
}

class Estimating : public Estimator, private LeafEstimator {
 public:
  Estimating(std::unique_ptr<OpModel> model, std::unique_ptr<Estimator> fallback)
      : model_(std::move(model)),
        fallback_(std::move(fallback)),
        key_(Combine(HashBytes(model_->Fingerprint()), fallback_->key())) {}

  std::string_view name() const override { return model_->name(); }
  Hash128 key() const override { return key_; }

  graph::Estimate EstimateOp(const ir::Module& module, ir::OpId op, Notes& notes) const override {
    return Labelled(CompositeEvaluator(module, *this, notes).Op(op));
  }

  graph::Estimate EstimateBlock(const ir::Module& module, const graph::Block& block, Notes& notes) const override {
    if (const auto whole = WholeBlock(module, block)) return Labelled(*whole);
    CompositeEvaluator evaluator(module, *this, notes);
    Work work;
    for (const ir::OpId op : block.ops) work += evaluator.Op(op);
    return Labelled(work);
  }

 private:
  Work Leaf(const ir::Module& module, ir::OpId op, Notes& notes) const override {
    const size_t noted = notes.size();
    std::optional<Work> work = Modelled(module, op, notes);
    // A fusion that the model does not know as a whole is the sum of what it knows of it.
    if (!work && notes.size() == noted && module.kind(op) == ir::OpKind::kFusion) {
      for (const ir::OpId part : FusedOps(module, op)) {
        const auto known = Modelled(module, part, notes);
        if (known) work = work ? * work += *known : *known;
      }
    }
    if (!work) return ToWork(fallback_->EstimateOp(module, op, notes));
    const OpCost total = CostOf(module, op);
    work->flops = total.flops;
    work->bytes = total.bytes;
    return *work;
  }

  std::optional<Work> Modelled(const ir::Module& module, ir::OpId op, Notes& notes) const {
    const auto cost = model_->Cost(module, op);
    if (!cost) {
      notes.push_back({NoteKind::kToolFailed, op, cost.error().message});
      return std::nullopt;
    }
    return *cost ? std::optional(AsWork(**cost)) : std::nullopt;
  }

  // A block that the model fails on as a whole is asked for operation by operation.
  std::optional<Work> WholeBlock(const ir::Module& module, const graph::Block& block) const {
    if (block.ops.size() < 2) return std::nullopt;
    const auto cost = model_->CostBlock(module, block);
    if (!cost || !*cost) return std::nullopt;
    Work work = AsWork(**cost);
    for (const ir::OpId op : block.ops) {
      const OpCost total = CostOf(module, op);
      work.flops += total.flops;
      work.bytes += total.bytes;
    }
    return work;
  }

  graph::Estimate Labelled(const Work& work) const {
    if (work.models == kModel) return ToEstimate(work, name());
    return ToEstimate(work, work.models == kFallback ? fallback_->name() : std::string_view("mixed"));
  }

  std::unique_ptr<OpModel> model_;
  std::unique_ptr<Estimator> fallback_;
  Hash128 key_;
};

}  // namespace

std::unique_ptr<Estimator> WithFallback(std::unique_ptr<OpModel> model, std::unique_ptr<Estimator> fallback) {
  return std::make_unique<Estimating>(std::move(model), std::move(fallback));
}

}  // namespace hespas::estimate
