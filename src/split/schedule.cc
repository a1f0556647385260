#include "split/schedule.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>

#include "base/units.h"
#include "ir/attributes/attribute.h"
#include "ir/facts/execution/trip_count.h"
#include "ir/walk.h"
#include "split/separator.h"
#include "split/strategies.h"

namespace hespas::split {
namespace {

using ir::OpKind;
using ir::OpSort;

constexpr size_t kMostSteps = size_t{1} << 23;  // beyond which nothing is laid out

// The body that runs when an op is called: a function's or a region's; invalid for other ops.
ir::BlockId CalledBody(const ir::Module& module, ir::OpId op) {
  if (ir::Traits(module.kind(op)).sort != OpSort::kCall) return ir::BlockId();
  const std::string_view* callee = module.attribute(op, "callee");
  if (callee == nullptr) return module.body(op);
  const ir::OpId function = module.FindSymbol(ir::AsSymbol(*callee));
  return function.valid() ? module.body(function) : ir::BlockId();
}

// Which ops hold communication in a body of theirs.
class Communicators {
 public:
  explicit Communicators(const ir::Module& module) : module_(module) {}

  bool Holds(ir::OpId op) {
    const ir::BlockId called = CalledBody(module_, op);
    if (called.valid() && module_.attribute(op, "callee") != nullptr) return BlockHolds(called);
    bool found = false;
    ir::WalkNested(module_, op, [&](ir::OpId inner) { found |= Direct(inner); });
    return found;
  }

 private:
  bool Direct(ir::OpId op) {
    if (IsCommunication(module_, op)) return true;
    if (module_.attribute(op, "callee") == nullptr) return false;
    const ir::BlockId called = CalledBody(module_, op);
    return called.valid() && BlockHolds(called);
  }

  // Functions are looked at once; deeper calls than kDeepest, and recursive ones, count as silent.
  bool BlockHolds(ir::BlockId block) {
    constexpr int kDeepest = 500;
    const auto [found, is_new] = known_.try_emplace(block.value, false);
    if (!is_new || depth_ > kDeepest) return found->second;
    ++depth_;
    bool holds = false;
    for (const ir::OpId op : module_.block(block).ops) {
      holds |= Direct(op);
      ir::WalkNested(module_, op, [&](ir::OpId inner) { holds |= Direct(inner); });
    }
    --depth_;
    return known_[block.value] = holds;
  }

  const ir::Module& module_;
  std::unordered_map<uint32_t, bool> known_;
  int depth_ = 0;
};

class Scheduler {
 public:
  Scheduler(const ir::Module& module, Program& program, bool lay_out, int64_t window)
      : module_(module),
        program_(program),
        communicators_(module),
        lay_out_(lay_out),
        window_(window),
        producer_(module.value_count(), kNowhere) {}

  // Nothing where the layout would be too long.
  std::optional<Schedule> Run() {
    schedule_.returned_results.assign(module_.value_count(), false);
    const size_t main_ops = program_.ops.size();
    for (size_t i = 0; i < main_ops; ++i) {
      Visit(ir::OpId(program_.ops[i]));
      while (!stack_.empty()) {
        Continue();
        if (schedule_.position.size() > main_ops + kMostSteps) return std::nullopt;
      }
    }
    if (program_.terminator.valid()) Return(module_.operands(program_.terminator));
    schedule_.begin_.push_back(schedule_.producers_.size());
    std::sort(schedule_.waits.begin(), schedule_.waits.end());
    return std::move(schedule_);
  }

 private:
  static constexpr uint32_t kNowhere = Schedule::kNowhere;

  // A body being laid out.
  struct Frame {
    ir::OpId op;        // the call or loop
    ir::BlockId block;  // running now
    size_t next = 0;
    int64_t trips = 0;                        // left to lay out, the running one included; loops only
    RepeatedLoop loop;                        // of loops that leave iterations out
    int64_t around = 1;                       // how often the op itself counts
    uint32_t begin = 0;                       // of the iteration
    uint32_t gate = kNowhere;                 // what it waits for
    uint32_t ends[2] = {kNowhere, kNowhere};  // the last computation of the last two iterations, in turn
    size_t iteration = 0;
  };

  void Visit(ir::OpId op) {
    if (lay_out_ && MayLayOut(op) && communicators_.Holds(op)) {
      if (Enter(op)) return;
    }
    Step(op);
  }

  bool MayLayOut(ir::OpId op) const {
    const OpSort sort = ir::Traits(module_.kind(op)).sort;
    return sort == OpSort::kControl || sort == OpSort::kCall;
  }

  bool TestCommunicates(ir::OpId loop) {
    const ir::BlockId test = module_.body(loop, 0);
    return test.valid() && std::ranges::any_of(module_.block(test).ops, [&](ir::OpId op) {
             return IsCommunication(module_, op) || communicators_.Holds(op);
           });
  }

  bool Enter(ir::OpId op) {
    const auto operands = module_.operands(op);
    if (module_.kind(op) == OpKind::kWhile) {
      const auto trips = ir::TripCount(module_, op);
      const ir::BlockId body = module_.body(op, 1);
      if (!trips || !body.valid() || (ir::TestsEachIteration(module_, op) && TestCommunicates(op))) return false;
      std::vector<uint32_t> carried;
      for (const ir::ValueId value : operands) carried.push_back(producer_[value.index()]);
      if (*trips == 0) {
        BindResults(op, carried);
        return true;
      }
      Bind(body, carried);
      const int64_t laid_out = IterationsLaidOut(*trips, window_);
      RepeatedLoop loop{.first = static_cast<size_t>(2 * window_),
                        .count = static_cast<size_t>(std::max<int64_t>(window_, 1)),
                        .left_out = *trips - laid_out};
      stack_.push_back({.op = op, .block = body, .trips = laid_out, .loop = std::move(loop), .around = repeats_});
      BeginIteration(stack_.back());
      return true;
    }
    const bool branch = ir::Traits(module_.kind(op)).sort == OpSort::kControl;
    const ir::BlockId body = branch ? BusiestBranch(op) : CalledBody(module_, op);
    const bool open = std::any_of(stack_.begin(), stack_.end(), [&](const Frame& f) { return f.block == body; });
    if (!body.valid() || open) return false;
    std::vector<uint32_t> producers;
    for (const ir::ValueId value : operands) producers.push_back(producer_[value.index()]);
    if (!branch) Bind(body, producers);
    stack_.push_back({.op = op, .block = body});
    return true;
  }

  // The branch with most communication; of equal ones the longest, then the first.
  ir::BlockId BusiestBranch(ir::OpId op) {
    ir::BlockId busiest;
    std::pair<size_t, size_t> most;
    for (const ir::RegionId region : module_.regions(op)) {
      const ir::BlockId block = module_.region(region).first_block;
      if (!block.valid()) continue;
      std::pair<size_t, size_t> size;
      for (const ir::OpId inner : module_.block(block).ops) {
        ++size.second;
        size.first += IsCommunication(module_, inner) || communicators_.Holds(inner);
      }
      if (!busiest.valid() || size > most) {
        busiest = block;
        most = size;
      }
    }
    return busiest;
  }

  void Continue() {
    Frame& top = stack_.back();
    const auto& ops = module_.block(top.block).ops;
    if (top.next < ops.size() && !(top.next + 1 == ops.size() && ir::IsTerminator(module_.kind(ops.back())))) {
      Visit(ops[top.next++]);
      return;
    }
    const bool loop = module_.kind(top.op) == OpKind::kWhile;
    std::vector<uint32_t> handed;
    if (!ops.empty() && ir::IsTerminator(module_.kind(ops.back()))) {
      Return(module_.operands(ops.back()));
      for (const ir::ValueId value : module_.operands(ops.back())) handed.push_back(producer_[value.index()]);
    }
    if (loop) EndIteration(top);
    if (loop && --top.trips > 0) {
      Bind(top.block, handed);
      top.next = 0;
      BeginIteration(top);
      return;
    }
    if (loop && top.loop.left_out > 0) EndLoop(top);
    const ir::OpId op = top.op;
    stack_.pop_back();
    BindResults(op, handed);
  }

  // An iteration ends with the computation at the end of its longest chain. The last one in program order may be the
  // next value of a counter, which waits for nothing.
  void EndIteration(Frame& frame) {
    uint32_t& end = frame.ends[frame.iteration++ % 2];
    end = kNowhere;
    for (uint32_t step = frame.begin; step < schedule_.position.size(); ++step) {
      const ir::OpId op = program_.ops[schedule_.position[step]];
      if (IsCopyable(module_, op) || IsCommunication(module_, op)) continue;
      if (end == kNowhere || depth_[step] >= depth_[end]) end = step;
    }
  }

  // What nothing of its iteration makes waits for what its iteration waits for.
  void WaitForGates(ir::OpId op, uint32_t step) {
    if (IsCopyable(module_, op)) return;
    uint32_t latest = 0;
    bool any = false;
    for (size_t i = schedule_.begin_[step]; i < schedule_.producers_.size(); ++i) {
      const uint32_t producer = schedule_.producers_[i];
      if (producer == kNowhere || IsCopyable(module_, program_.ops[schedule_.position[producer]])) continue;
      latest = std::max(latest, producer);
      any = true;
    }
    for (auto frame = stack_.rbegin(); frame != stack_.rend(); ++frame) {
      if (frame->gate == kNowhere || (any && latest >= frame->begin)) continue;
      schedule_.waits.emplace_back(step, frame->gate);
      latest = frame->gate;
      any = true;
    }
  }

  void BeginIteration(Frame& frame) {
    frame.begin = static_cast<uint32_t>(schedule_.position.size());
    frame.gate = frame.ends[frame.iteration % 2];
    RepeatedLoop& loop = frame.loop;
    if (loop.left_out == 0) return;
    const size_t iteration = loop.first_block.size();
    loop.first_block.push_back(static_cast<uint32_t>(schedule_.position.size()));
    const bool repeated = iteration >= loop.first && iteration < loop.first + loop.count;
    repeats_ = repeated ? internal::SaturatingMultiply(frame.around, loop.repeats()) : frame.around;
  }
  void EndLoop(Frame& frame) {
    frame.loop.first_block.push_back(static_cast<uint32_t>(schedule_.position.size()));
    schedule_.loops.push_back(std::move(frame.loop));
    repeats_ = frame.around;
  }

  void Return(std::span<const ir::ValueId> values) {
    for (const ir::ValueId value : values) schedule_.returned_results[value.index()] = true;
  }
  void Bind(ir::BlockId block, const std::vector<uint32_t>& producers) {
    size_t i = 0;
    for (const ir::ValueId argument : module_.arguments(block)) {
      if (i < producers.size()) producer_[argument.index()] = producers[i++];
    }
  }
  void BindResults(ir::OpId op, const std::vector<uint32_t>& producers) {
    for (size_t i = 0; i < module_.op(op).result_count && i < producers.size(); ++i) {
      producer_[module_.result(op, i).index()] = producers[i];
    }
  }

  void Step(ir::OpId op) {
    const uint32_t position = program_.Position(module_, op);
    const auto step = static_cast<uint32_t>(schedule_.position.size());
    schedule_.position.push_back(position);
    schedule_.repeats.push_back(repeats_);
    schedule_.begin_.push_back(schedule_.producers_.size());
    uint32_t depth = 0;
    for (const ir::ValueId use : program_.uses(position)) {
      const uint32_t producer = producer_[use.index()];
      schedule_.producers_.push_back(producer);
      if (producer != kNowhere) depth = std::max(depth, depth_[producer] + 1);
    }
    depth_.push_back(depth);
    for (const ir::ValueId result : module_.results(op)) producer_[result.index()] = step;
    WaitForGates(op, step);
  }

  const ir::Module& module_;
  Program& program_;
  Communicators communicators_;
  bool lay_out_;
  int64_t window_;
  int64_t repeats_ = 1;             // how often what is laid out now counts
  std::vector<uint32_t> producer_;  // by value: the last step that made it
  std::vector<uint32_t> depth_;     // by step: steps of the longest chain before it
  std::vector<Frame> stack_;
  Schedule schedule_;
};

}  // namespace

Schedule MakeSchedule(const ir::Module& module, Program& program, int64_t window, int64_t fallback) {
  const size_t main_ops = program.ops.size();
  for (const int64_t tried : {window, fallback}) {
    if (auto schedule = Scheduler(module, program, true, tried).Run()) return *std::move(schedule);
    program.Truncate(main_ops);
  }
  // Without laying out the steps are the ops of `main`, however many.
  return *Scheduler(module, program, false, 0).Run();
}

}  // namespace hespas::split
