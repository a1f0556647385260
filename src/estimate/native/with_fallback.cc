#include "estimate/native/with_fallback.h"

#include "estimate/calibrated/machine.h"
#include "estimate/calibrated/products.h"
#include "estimate/cost.h"
#include "estimate/fusion_cost.h"

namespace hespas::estimate::native {
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
          .memory_seconds = Seconds(estimate, graph::kMemoryTerm),
          .launch_seconds = Seconds(estimate, "launch"),
          .flops = estimate.flops.value,
          .bytes = estimate.bytes.value,
          .models = kFallback};
}

}  // namespace

WithFallback::WithFallback(std::unique_ptr<MatrixModel> model, std::unique_ptr<Estimator> fallback)
    : model_(std::move(model)),
      fallback_(std::move(fallback)),
      key_(Combine(HashBytes(model_->Fingerprint()), fallback_->key())) {}

// Nothing where the op multiplies no matrices.
std::optional<Work> WithFallback::Products(const ir::Module& module, ir::OpId op) const {
  const bool fusion = module.kind(op) == ir::OpKind::kFusion;
  std::optional<Work> work;
  for (const ir::OpId part : fusion ? FusedOps(module, op) : std::vector<ir::OpId>{op}) {
    const auto kernel = calibrated::ProductOf(module, part, calibrated::Machine{});
    const auto product = kernel ? AsProduct(*kernel) : std::nullopt;
    if (!product) continue;
    const MatrixCost cost = model_->Cost(*product);
    if (!work) work.emplace();
    work->seconds += cost.seconds;
    work->compute_seconds += cost.compute_seconds;
    work->memory_seconds += cost.memory_seconds;
  }
  if (!work) return work;
  const OpCost total = CostOf(module, op);
  work->flops = total.flops;
  work->bytes = total.bytes;
  work->models = kModel;
  return work;
}

Work WithFallback::Leaf(const ir::Module& module, ir::OpId op, Notes& notes) const {
  if (const auto work = Products(module, op)) return *work;
  return ToWork(fallback_->EstimateOp(module, op, notes));
}

graph::Estimate WithFallback::Labelled(const Work& work) const {
  if (work.models == kModel) return ToEstimate(work, name());
  return ToEstimate(work, work.models == kFallback ? fallback_->name() : std::string_view("mixed"));
}

graph::Estimate WithFallback::EstimateOp(const ir::Module& module, ir::OpId op, Notes& notes) const {
  return Labelled(CompositeEvaluator(module, *this, notes).Op(op));
}

graph::Estimate WithFallback::EstimateBlock(const ir::Module& module, const graph::Block& block, Notes& notes) const {
  CompositeEvaluator evaluator(module, *this, notes);
  Work work;
  for (const ir::OpId op : block.ops) work += evaluator.Op(op);
  return Labelled(work);
}

}  // namespace hespas::estimate::native
