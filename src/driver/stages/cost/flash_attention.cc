#include "driver/stages/cost/flash_attention.h"

#include <algorithm>
#include <map>
#include <unordered_set>

#include "driver/stages/cost/energy.h"
#include "ir/attributes/op_attributes.h"
#include "ir/facts/fusion.h"
#include "ir/facts/library_call.h"

namespace hespas::driver {
namespace {

using graph::EstimateTable;

constexpr int64_t kSmallestScores = 1 << 16;  // elements; smaller ones stay in caches anyway

class Flash {
 public:
  Flash(const Prepared& prepared, const hardware::Device& device, Estimated& estimated)
      : blocks_(prepared.blocks), module_(*prepared.module), estimated_(estimated), power_(PowerOf(device)) {}

  void Apply() {
    for (uint32_t i = 0; i < blocks_.blocks.size(); ++i) {
      const graph::Block& block = blocks_.blocks[i];
      if (block.ops.size() != 1 || estimated_.table.of_block[i] == EstimateTable::kNone) continue;
      const bool matmul = IsMatmul(block.ops[0]);
      const int64_t saved = SavedBytes(block, matmul);
      if (saved > 0) Replace(i, matmul, saved);
    }
    std::stable_sort(estimated_.ops.begin(), estimated_.ops.end(),
                     [](const auto& a, const auto& b) { return a.time > b.time; });
  }

 private:
  int64_t Elements(ir::ValueId value) const { return module_.type(value).element_count(); }

  bool IsMatmul(ir::OpId op) const {
    if (module_.kind(op) != ir::OpKind::kFusion) return IsPlainMatmul(op);
    const std::vector<ir::OpId> inner = ir::FusedOps(module_, op);
    return std::any_of(inner.begin(), inner.end(), [&](ir::OpId one) { return IsPlainMatmul(one); });
  }

  bool IsPlainMatmul(ir::OpId op) const {
    if (ir::Traits(module_.kind(op)).sort == ir::OpSort::kContraction) return true;
    return ir::LibraryKindOf(module_, op) == ir::LibraryKind::kGemm;
  }

  bool IsBatched(ir::OpId op) const {
    if (module_.kind(op) == ir::OpKind::kFusion) {
      const std::vector<ir::OpId> inner = ir::FusedOps(module_, op);
      return std::any_of(inner.begin(), inner.end(), [&](ir::OpId one) { return IsBatched(one); });
    }
    if (const auto call = ir::LibraryCallOf(module_, op)) return call->batch > 1;
    const auto numbers = ir::DotDimensionsOf(module_, op);
    return numbers && !numbers->lhs_batching.empty();
  }

  // Marks the score tensors that the block makes; returns the bytes of those it reads or writes.
  int64_t SavedBytes(const graph::Block& block, bool matmul) {
    int64_t saved = 0;
    int64_t scores = 0;  // elements of a score tensor that it reads
    int64_t largest = 0;
    for (const ir::ValueId input : block.inputs) {
      largest = std::max(largest, Elements(input));
      if (!scores_.contains(input.value)) continue;
      scores = std::max(scores, Elements(input));
      saved += BytesOf(input);
    }
    for (const ir::ValueId output : block.outputs) {
      const int64_t elements = Elements(output);
      const bool made =
          matmul && scores == 0 && elements >= kSmallestScores && elements >= 2 * largest && IsBatched(block.ops[0]);
      const bool derived = !matmul && scores > 0 && elements == scores;
      if (!made && !derived) continue;
      scores_.insert(output.value);
      saved += BytesOf(output);
    }
    return saved;
  }

  int64_t BytesOf(ir::ValueId value) const { return ir::ByteSize(module_.types(), module_.type_id(value)); }

  void Replace(uint32_t block, bool matmul, int64_t saved) {
    EstimateTable& table = estimated_.table;
    const uint32_t before = table.of_block[block];
    const auto [found, added] = replaced_.try_emplace({before, saved}, static_cast<uint32_t>(table.unique.size()));
    const graph::Estimate old = table.unique[before];
    if (added) {
      table.unique.push_back(Reduced(old, matmul, saved));
      table.first.push_back(graph::BlockId(size_t{block}));
      estimated_.op_times.push_back({table.unique.back().time});
    }
    table.of_block[block] = found->second;
    const graph::Estimate& reduced = table.unique[found->second];
    for (result::OpSummary& summary : estimated_.ops) {
      if (summary.name != module_.name(blocks_.blocks[block].ops[0])) continue;
      const int64_t repeats = blocks_.blocks[block].repeats;
      summary.time = summary.time - repeats * (old.time - reduced.time);
      summary.bytes = summary.bytes - repeats * (old.bytes - reduced.bytes);
      if (power_)
        summary.energy_j -= static_cast<double>(repeats) * (EnergyOf(*power_, old) - EnergyOf(*power_, reduced));
    }
  }

  static graph::Estimate Reduced(graph::Estimate estimate, bool matmul, int64_t saved) {
    const int64_t kept = std::max<int64_t>(0, estimate.bytes.value - saved);
    const double share =
        estimate.bytes.value > 0 ? static_cast<double>(kept) / static_cast<double>(estimate.bytes.value) : 0;
    Time traffic;
    Time arithmetic;
    Time launch;
    for (graph::Term& term : estimate.terms) {
      if (term.name == graph::kMemoryTerm) traffic = term.time = Time::Seconds(term.time.seconds() * share);
      if (term.name == graph::kComputeTerm) arithmetic = term.time;
      if (term.name == graph::kLaunchTerm) launch = matmul ? term.time : term.time = Time();
    }
    const Time time = matmul ? std::max(arithmetic, traffic) + launch : traffic;
    estimate.bytes = Bytes(kept);
    estimate.time = std::min(estimate.time, time);
    estimate.bound = matmul && arithmetic >= traffic ? graph::Bound::kCompute : graph::Bound::kMemory;
    return estimate;
  }

  const graph::BlockGraph& blocks_;
  const ir::Module& module_;
  Estimated& estimated_;
  std::optional<Power> power_;
  std::unordered_set<uint32_t> scores_;                        // values
  std::map<std::pair<uint32_t, int64_t>, uint32_t> replaced_;  // distinct block and bytes saved -> distinct block
};

}  // namespace

void ApplyFlashAttention(const Prepared& prepared, const hardware::Device& device, Estimated& estimated) {
  Flash(prepared, device, estimated).Apply();
}

}  // namespace hespas::driver
