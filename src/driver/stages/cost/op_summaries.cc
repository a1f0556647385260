#include "driver/stages/cost/op_summaries.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/text/hash.h"
#include "driver/stages/cost/energy.h"
#include "estimate/registry.h"
#include "split/structure_hash.h"

namespace hespas::driver {
namespace {

// A measured block's time among its ops, in the proportions that the model of single ops says.
void ShareOut(const graph::Estimate& block, std::vector<graph::Estimate>& ops) {
  if (block.bound != graph::Bound::kMeasured) return;
  Time sum;
  for (const graph::Estimate& op : ops) sum += op.time;
  for (graph::Estimate& op : ops) {
    const double share = sum.value > 0 ? op.time.seconds() / sum.seconds() : 1.0 / static_cast<double>(ops.size());
    op.time = Time::Seconds(block.time.seconds() * share);
  }
}

// Estimates of single ops, kept between runs as those of blocks are: tools are slow.
class OpEstimates {
 public:
  OpEstimates(const Prepared& prepared, const estimate::Estimator& estimator, estimate::EstimateCache* cache)
      : prepared_(prepared), estimator_(estimator), cache_(cache) {}

  graph::Estimate Of(const graph::Block& block, ir::OpId op) {
    // What measures blocks asks its fallback for single ops: under its own key that would pass for measured.
    if (cache_ == nullptr || estimate::Measures(estimator_.name()))
      return estimator_.EstimateOp(*prepared_.module, op, notes_);
    const Hash128 key = Combine(block.ops.size() == 1 ? block.hash : HashOf(op), estimator_.key());
    if (auto known = cache_->Find(key)) return *std::move(known);
    const size_t noted = notes_.size();
    const graph::Estimate made = estimator_.EstimateOp(*prepared_.module, op, notes_);
    if (notes_.size() == noted) cache_->Store(key, made);
    return made;
  }

  // Ops without a cost rule since the last call, each once.
  std::vector<std::string> TakeUnknown() {
    std::vector<std::string> names;
    for (const estimate::Note& note : notes_) {
      const bool unknown =
          note.kind == estimate::NoteKind::kNoRule || note.kind == estimate::NoteKind::kUnknownCustomCall;
      // Targets of custom calls stand as the program spells them.
      const bool quoted = note.subject.size() > 1 && note.subject.front() == '"' && note.subject.back() == '"';
      const std::string name = quoted ? note.subject.substr(1, note.subject.size() - 2) : note.subject;
      if (unknown && std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
    notes_.clear();
    return names;
  }

 private:
  Hash128 HashOf(ir::OpId op) {
    if (!hasher_) hasher_.emplace(*prepared_.module, true);
    const ir::OpId ops[] = {op};
    return hasher_->Block(ops);
  }

  const Prepared& prepared_;
  const estimate::Estimator& estimator_;
  estimate::EstimateCache* cache_;
  std::optional<split::StructureHasher> hasher_;
  estimate::Notes notes_;
};

}  // namespace

void ForEachOp(const Prepared& prepared, const graph::EstimateTable& table,
               const std::function<graph::Estimate(size_t, ir::OpId)>& cost,
               const std::function<void(size_t, size_t, ir::OpId, const graph::Estimate&)>& visit) {
  std::unordered_map<std::string_view, size_t> rows;
  for (size_t i = 0; i < table.unique.size(); ++i) {
    const graph::Block& block = prepared.blocks.blocks[table.first[i].index()];
    std::vector<graph::Estimate> of_ops;
    for (const ir::OpId op : block.ops) of_ops.push_back(cost(i, op));
    ShareOut(table.unique[i], of_ops);
    for (size_t j = 0; j < block.ops.size(); ++j) {
      const size_t row = rows.try_emplace(prepared.module->name(block.ops[j]), rows.size()).first->second;
      visit(row, i, block.ops[j], of_ops[j]);
    }
  }
}

void SortByTime(std::vector<result::OpSummary>& ops) {
  std::stable_sort(ops.begin(), ops.end(), [](const auto& a, const auto& b) { return a.time > b.time; });
}

void SummariseOps(const Prepared& prepared, const estimate::Estimator& estimator, estimate::EstimateCache* cache,
                  Estimated& estimated) {
  const graph::EstimateTable& table = estimated.table;
  const std::vector<int64_t> uses = graph::Uses(prepared.blocks, table);
  const auto power = PowerOf(prepared.device);
  std::vector<result::OpSummary>& ops = estimated.ops;
  OpEstimates estimates(prepared, estimator, cache);
  std::map<std::string, result::UnknownKernel> unknown;
  estimated.op_times.resize(table.unique.size());
  const auto cost = [&](size_t i, ir::OpId op) {
    const graph::Estimate made = estimates.Of(prepared.blocks.blocks[table.first[i].index()], op);
    for (const std::string& name : estimates.TakeUnknown()) {
      result::UnknownKernel& kernel = unknown[name];
      kernel.name = name;
      kernel.count += uses[i];
      kernel.bytes += uses[i] * made.bytes;
    }
    return made;
  };
  ForEachOp(prepared, table, cost, [&](size_t row, size_t i, ir::OpId op, const graph::Estimate& estimate) {
    estimated.op_times[i].push_back(estimate.time);
    if (row == ops.size()) ops.push_back({.name = std::string(prepared.module->name(op))});
    result::OpSummary& summary = ops[row];
    summary.count += uses[i];
    summary.costed_by[std::string(estimate.source)] += uses[i];
    summary.time += uses[i] * estimate.time;
    summary.flops += uses[i] * estimate.flops;
    summary.bytes += uses[i] * estimate.bytes;
    if (power) summary.energy_j += static_cast<double>(uses[i]) * EnergyOf(*power, estimate);
  });
  SortByTime(ops);
  for (auto& [name, kernel] : unknown) estimated.unknown.push_back(std::move(kernel));
  std::stable_sort(estimated.unknown.begin(), estimated.unknown.end(),
                   [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
}

}  // namespace hespas::driver
