#include "driver/inspect/profile.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <unordered_map>

#include "base/units.h"
#include "estimate/cost.h"
#include "ir/attributes/attribute.h"
#include "ir/attributes/op_attributes.h"
#include "ir/facts/execution/trip_count.h"
#include "ir/op_name.h"
#include "ir/walk.h"

namespace hespas::driver {
namespace {

using internal::SaturatingAdd;
using internal::SaturatingMultiply;
using ir::OpId;
using ir::OpKind;
using ir::OpSort;

class Profiler {
 public:
  explicit Profiler(const ir::Module& module) : module_(module) {}

  report::Profile Run() {
    CollectFunctions();
    for (const OpId function : CallersFirst()) Walk(function);
    CountConstants();
    FillRows();
    return std::move(profile_);
  }

 private:
  OpId Callee(OpId op) const {
    for (const std::string_view name : {"callee", "called_computation", "decomposition"}) {
      if (const auto* text = module_.attribute(op, name)) return module_.FindSymbol(ir::AsSymbol(*text));
    }
    return OpId();
  }

  std::string Name(OpId function) const {
    const auto* symbol = module_.attribute(function, "sym_name");
    return symbol ? ir::AsString(*symbol).value_or("") : "";
  }

  // Calls of every function, in program order, and how often each function runs as a root.
  void CollectFunctions() {
    std::unordered_map<OpId, bool> called;
    for (const OpId function : module_.block(module_.body(module_.root())).ops) {
      if (module_.kind(function) != OpKind::kFunc) continue;
      functions_.push_back(function);
      ir::WalkNested(module_, function, [&](OpId op) {
        const OpId callee = Callee(op);
        if (!callee.valid()) return;
        called[callee] = true;
        ++calls_[function][callee];
      });
    }
    if (const OpId main = module_.main(); main.valid()) {
      executed_[main] = 1;
      return;
    }
    for (const OpId function : functions_) {
      if (!called.contains(function)) executed_[function] = 1;
    }
  }

  // Functions reached, each behind all its callers; calls within a cycle are followed once.
  std::vector<OpId> CallersFirst() const {
    enum class State : uint8_t { kNew, kOpen, kDone };
    std::unordered_map<OpId, State> states;
    std::vector<OpId> order;
    std::vector<OpId> stack;
    for (const OpId root : functions_) {
      if (!executed_.contains(root)) continue;
      stack.push_back(root);
      while (!stack.empty()) {
        const OpId function = stack.back();
        State& state = states[function];
        if (state != State::kNew) {
          stack.pop_back();
          if (state == State::kOpen) order.push_back(function);
          state = State::kDone;
          continue;
        }
        state = State::kOpen;
        const auto calls = calls_.find(function);
        if (calls == calls_.end()) continue;
        for (const auto& [callee, count] : calls->second) {
          if (!states.contains(callee)) stack.push_back(callee);
        }
      }
    }
    std::reverse(order.begin(), order.end());
    return order;
  }

  struct Frame {
    ir::RegionId region;
    ir::BlockId block;
    size_t next = 0;
    int64_t times = 1;
    bool fused = false;
  };

  // Regions of calls, fusions and control flow run as often as their op says; those of reductions are part of its cost.
  void Walk(OpId function) {
    current_ = function;
    std::vector<Frame> stack;
    const auto enter = [&](ir::RegionId region, int64_t times, bool fused) {
      if (region.valid()) stack.push_back({region, module_.region(region).first_block, 0, times, fused});
    };
    enter(module_.op(function).first_region, executed_[function], false);
    while (!stack.empty()) {
      Frame& frame = stack.back();
      if (!frame.block.valid()) {
        const Frame done = frame;
        stack.pop_back();
        enter(module_.region(done.region).next, done.times, done.fused);
        continue;
      }
      const ir::Block& block = module_.block(frame.block);
      if (frame.next == block.ops.size()) {
        frame.block = block.next;
        frame.next = 0;
        continue;
      }
      const OpId op = block.ops[frame.next++];
      const int64_t times = frame.times;
      const bool fused = frame.fused;
      Visit(op, times, fused);
      const OpSort sort = ir::Traits(module_.kind(op)).sort;
      if (sort != OpSort::kControl && sort != OpSort::kCall && sort != OpSort::kFusion) continue;
      enter(module_.op(op).first_region, SaturatingMultiply(times, Repetitions(op, times)),
            fused || sort == OpSort::kFusion);
    }
  }

  // How often the regions of `op` run each time; notes loops.
  int64_t Repetitions(OpId op, int64_t times) {
    if (module_.kind(op) != OpKind::kWhile) return 1;
    const auto trips = ir::TripCount(module_, op);
    loops_.push_back({module_.op(op).source, {.function = Name(current_), .trip_count = trips, .executed = times}});
    return trips.value_or(1);
  }

  void Visit(OpId op, int64_t times, bool fused) {
    if (const OpId callee = Callee(op); callee.valid()) {
      executed_[callee] = SaturatingAdd(executed_[callee], times);
      runs_[{current_, callee}] = SaturatingAdd(runs_[{current_, callee}], times);
    }
    const OpKind kind = module_.kind(op);
    if (ir::IsTerminator(kind)) return;
    if (ir::IsCollective(kind)) AddCollective(op, times);
    const estimate::OpCost cost = estimate::CostOf(module_, op);
    report::WorkRow& row = work_[ir::StableName(module_, op)];
    row.executed = SaturatingAdd(row.executed, times);
    // A fusion's flops are those of the ops in it.
    if (kind != OpKind::kFusion) row.flops = SaturatingAdd(row.flops, SaturatingMultiply(cost.flops, times));
    if (!fused) row.bytes = SaturatingAdd(row.bytes, SaturatingMultiply(cost.bytes, times));
  }

  int64_t Bytes(const auto& values) const {
    int64_t sum = 0;
    for (const ir::ValueId value : values) {
      sum = SaturatingAdd(sum, ir::ByteSize(module_.types(), module_.type_id(value)));
    }
    return sum;
  }

  void AddCollective(OpId op, int64_t times) {
    const auto* text = module_.attribute(op, "replica_groups");
    if (!text) text = module_.attribute(op, "source_target_pairs");
    std::string name(ir::Traits(module_.kind(op)).spelling);
    std::replace(name.begin(), name.end(), '_', '-');
    const int64_t bytes = std::max(Bytes(module_.operands(op)), Bytes(module_.results(op)));
    const auto key = std::make_tuple(name, bytes, std::string(text ? *text : ""));
    const auto [found, is_new] = collective_rows_.try_emplace(key, profile_.collectives.size());
    if (is_new) profile_.collectives.push_back(Describe(op, std::move(name), bytes));
    report::CollectiveWorkRow& row = profile_.collectives[found->second];
    row.executed = SaturatingAdd(row.executed, times);
  }

  report::CollectiveWorkRow Describe(OpId op, std::string name, int64_t bytes) const {
    report::CollectiveWorkRow row{.op = std::move(name), .bytes = bytes};
    if (const auto pairs = ir::SourceTargetPairsOf(module_, op)) {
      for (const auto& [source, target] : *pairs) row.groups.push_back({source, target});
    } else if (const auto groups = ir::ReplicaGroupsOf(module_, op)) {
      row.groups = groups->groups;
      for (const auto& group : row.groups)
        row.group_size = std::max(row.group_size, static_cast<int64_t>(group.size()));
    }
    return row;
  }

  void CountConstants() {
    report::ConstantShare& constants = profile_.constants;
    int64_t ops = 1;
    ir::WalkNested(module_, module_.root(), [&](OpId op) {
      ++ops;
      if (module_.kind(op) != OpKind::kConstant) return;
      ++constants.count;
      constants.bytes = SaturatingAdd(constants.bytes, Bytes(module_.results(op)));
      if (const auto* value = module_.attribute(op, "value"))
        constants.text_bytes += static_cast<int64_t>(value->size());
    });
    constants.of_ops = static_cast<double>(constants.count) / static_cast<double>(ops);
    const double file = static_cast<double>(module_.source().size());
    if (file > 0) constants.of_file = std::min(1.0, static_cast<double>(constants.text_bytes) / file);
  }

  void FillRows() {
    for (auto& [name, row] : work_) {
      profile_.flops = SaturatingAdd(profile_.flops, row.flops);
      profile_.bytes = SaturatingAdd(profile_.bytes, row.bytes);
      row.op = name;
      profile_.work.push_back(std::move(row));
    }
    std::stable_sort(profile_.work.begin(), profile_.work.end(), [](const auto& a, const auto& b) {
      return std::tie(a.flops, a.bytes, a.executed) > std::tie(b.flops, b.bytes, b.executed);
    });
    for (const OpId caller : functions_) {
      if (!executed_.contains(caller)) continue;
      for (const auto& [callee, calls] : calls_[caller]) {
        profile_.calls.push_back({Name(caller), Name(callee), calls, runs_[{caller, callee}]});
      }
    }
    FillLoops();
  }

  // Lines are counted in one pass over the text.
  void FillLoops() {
    std::stable_sort(loops_.begin(), loops_.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    const std::string_view text = module_.source();
    const bool has_lines = !text.starts_with("ML\xefR");
    int64_t line = 1;
    size_t at = 0;
    for (auto& [source, row] : loops_) {
      const size_t end = std::min<size_t>(source, text.size());
      line += std::count(text.begin() + static_cast<ptrdiff_t>(at), text.begin() + static_cast<ptrdiff_t>(end), '\n');
      at = end;
      if (has_lines) row.line = line;
      profile_.loops.push_back(std::move(row));
    }
  }

  const ir::Module& module_;
  report::Profile profile_;
  std::vector<OpId> functions_;
  std::unordered_map<OpId, std::map<OpId, int64_t>> calls_;  // places in the text
  std::unordered_map<OpId, int64_t> executed_;
  std::map<std::pair<OpId, OpId>, int64_t> runs_;
  OpId current_;
  std::map<std::string, report::WorkRow> work_;
  std::map<std::tuple<std::string, int64_t, std::string>, size_t> collective_rows_;
  std::vector<std::pair<uint32_t, report::LoopRow>> loops_;
};

}  // namespace

report::Profile ProfileOf(const ir::Module& module) { return Profiler(module).Run(); }

}  // namespace hespas::driver
