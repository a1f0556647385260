#include "report/step/breakdown.h"

#include <algorithm>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>

#include "report/step/op_labels.h"
#include "report/step/scope_path.h"

namespace hespas::report {
namespace {

using result::TimeShare;

constexpr std::string_view kIdle = "idle";
constexpr std::string_view kNoLayer = "outside of layers";

// Sums by name in the order in which names appear; sorted when taken. Names are views that stay.
class Shares {
 public:
  explicit Shares(const graph::BlockGraph& graph) : graph_(graph) {}

  void Add(std::string_view name, Time time, uint32_t block) {
    if (name.data() != last_name_.data() || name.size() != last_name_.size()) last_ = IndexOf(name);
    last_name_ = name;
    TimeShare& share = shares_[last_];
    share.time += time;
    if (last_block_[last_] != block) share.blocks += RepeatsOf(block);
    last_block_[last_] = block;
  }

  std::vector<TimeShare> Take(Time idle) {
    std::erase_if(shares_, [](const TimeShare& share) { return share.time == Time(); });
    std::stable_sort(shares_.begin(), shares_.end(),
                     [](const TimeShare& a, const TimeShare& b) { return a.time > b.time; });
    if (idle != Time()) shares_.push_back({.name = std::string(kIdle), .time = idle});
    return std::move(shares_);
  }

 private:
  size_t IndexOf(std::string_view name) {
    const auto [found, added] = index_.try_emplace(name, shares_.size());
    if (added) {
      shares_.push_back({.name = std::string(name)});
      last_block_.push_back(trace::kNoBlock);
    }
    return found->second;
  }

  int64_t RepeatsOf(uint32_t block) const { return block < graph_.blocks.size() ? graph_.blocks[block].repeats : 1; }

  const graph::BlockGraph& graph_;
  std::unordered_map<std::string_view, size_t> index_;
  std::vector<TimeShare> shares_;
  std::vector<uint32_t> last_block_;
  std::string_view last_name_;  // met last, and where it is
  size_t last_ = 0;
};

Time TermOf(const graph::Estimate& estimate, std::string_view name) {
  Time sum;
  for (const graph::Term& term : estimate.terms) {
    if (term.name == name) sum += term.time;
  }
  return sum;
}

class Maker {
 public:
  Maker(const StepView& step, const Account& account)
      : step_(step), account_(account), module_(*step.blocks.module), names_(&module_) {}

  result::Breakdown Make() {
    for (uint32_t i = 0; i < step_.blocks.blocks.size(); ++i) {
      AddComputed(i);
      AddExposed(i);
    }
    AddOthers();
    result::Breakdown out{.total = account_.total};
    out.kinds = kinds_.Take(account_.idle);
    out.bounds = bounds_.Take(account_.idle);
    if (named_) out.layers = layers_.Take(account_.idle);
    return out;
  }

 private:
  // Of devices that run another program.
  void AddOthers() {
    const auto block = static_cast<uint32_t>(step_.blocks.blocks.size());
    if (account_.computed[block] + account_.exposed[block] == Time()) return;
    for (Shares* shares : {&kinds_, &layers_}) {
      shares->Add("another program", account_.computed[block] + account_.exposed[block], block);
    }
    bounds_.Add("another program", account_.computed[block], block);
    bounds_.Add(graph::BoundName(graph::Bound::kNetwork), account_.exposed[block], block);
  }

  void AddComputed(uint32_t block) {
    const Time time = account_.computed[block];
    if (time == Time()) return;
    const std::vector<ir::OpId>& ops = step_.blocks.blocks[block].ops;
    const uint32_t distinct = step_.estimates.of_block[block];
    if (distinct == graph::EstimateTable::kNone || step_.op_times[distinct].size() != ops.size()) {
      return AddOps(block, {&time, 1}, {&ops.back(), 1});
    }
    if (ops.size() == 1) {
      AddOps(block, {&time, 1}, ops);
    } else {
      AddOps(block, Divide(time, step_.op_times[distinct]), ops);
    }
    const graph::Estimate& estimate = step_.estimates.unique[distinct];
    const Time launch = LaunchPart(estimate);
    const bool divided = launch != Time() || estimate.time == Time();
    const Time launching = divided ? Divide(time, {launch, estimate.time - launch})[0] : Time();
    if (launching != Time()) bounds_.Add(graph::BoundName(graph::Bound::kLaunch), launching, block);
    bounds_.Add(graph::BoundName(BoundOfRest(estimate)), time - launching, block);
  }

  void AddExposed(uint32_t block) {
    const Time time = account_.exposed[block];
    if (time == Time()) return;
    AddOps(block, {&time, 1}, {&step_.blocks.blocks[block].ops.back(), 1});
    bounds_.Add(graph::BoundName(graph::Bound::kNetwork), time, block);
  }

  void AddOps(uint32_t block, std::span<const Time> times, std::span<const ir::OpId> ops) {
    for (size_t i = 0; i < ops.size(); ++i) {
      kinds_.Add(KindLabel(module_, ops[i]), times[i], block);
      const std::string layer = LayerOf(names_.Of(ops[i]));
      named_ |= !layer.empty();
      layers_.Add(layer.empty() ? kNoLayer : std::string_view(*layer_names_.insert(layer).first), times[i], block);
    }
  }

  const StepView& step_;
  const Account& account_;
  const ir::Module& module_;
  const FrameworkNames names_;
  Shares kinds_{step_.blocks};
  Shares layers_{step_.blocks};
  Shares bounds_{step_.blocks};
  std::set<std::string> layer_names_;
  bool named_ = false;  // some op has a layer
};

}  // namespace

std::vector<Time> Divide(Time time, const std::vector<Time>& weights) {
  __extension__ using Wide = __int128;
  Wide all = 0;
  for (const Time weight : weights) all += std::max<int64_t>(weight.value, 0);
  std::vector<Time> parts(weights.size());
  Wide before = 0;
  int64_t given = 0;
  for (size_t i = 0; i < weights.size(); ++i) {
    before += all == 0 ? 1 : std::max<int64_t>(weights[i].value, 0);
    const Wide whole = all == 0 ? static_cast<Wide>(weights.size()) : all;
    const auto until = static_cast<int64_t>(time.value * before / whole);
    parts[i] = Time(until - given);
    given = until;
  }
  return parts;
}

Time LaunchPart(const graph::Estimate& estimate) {
  return std::min(TermOf(estimate, graph::kLaunchTerm), estimate.time);
}

graph::Bound BoundOfRest(const graph::Estimate& estimate) {
  if (estimate.bound == graph::Bound::kCompute || estimate.bound == graph::Bound::kMemory ||
      estimate.bound == graph::Bound::kMeasured) {
    return estimate.bound;
  }
  const bool compute = TermOf(estimate, graph::kComputeTerm) > TermOf(estimate, graph::kMemoryTerm);
  return compute ? graph::Bound::kCompute : graph::Bound::kMemory;
}

result::Breakdown MakeBreakdown(const StepView& step, const Account& account) { return Maker(step, account).Make(); }

}  // namespace hespas::report
