#include "serve/replica.h"

#include <algorithm>
#include <cmath>

namespace hespas::serve {
namespace {

int64_t CeilDivide(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Of SGLang's estimate of outputs still to come: managers/schedule_policy.py and scheduler.py of 0.5.
constexpr double kLeastRatio = 0.14;
constexpr double kRatioDecay = (0.7 - kLeastRatio) / 600;  // a decode step

int64_t TargetOf(const Job& job) {
  const bool decodes = job.produced > 0 && job.computed >= job.input + job.produced - 1;
  return decodes ? job.computed : job.input + job.produced;
}

}  // namespace

Replica::Replica(const Policy& policy, const StepModel& steps, uint64_t seed)
    : policy_(policy), model_(steps), random_(seed), ratio_(policy.output_ratio) {
  capacity_ = policy.blocks > 0 ? policy.blocks : std::numeric_limits<int64_t>::max() / 4;
  free_ = capacity_;
}

int64_t Replica::BlocksFor(const Job& job, int64_t tokens) const {
  return CeilDivide(std::max<int64_t>(tokens - job.shared, 0), policy_.block);
}

bool Replica::Fits(const Job& job) const { return BlocksFor(job, job.input + job.output) <= capacity_; }

double Replica::StillToCome() const {
  double tokens = 0;
  for (const Slot& slot : running_) tokens += static_cast<double>(slot.job.output - slot.job.produced);
  return ratio_ * tokens / static_cast<double>(policy_.block);
}

bool Replica::HasBlocksFor(const Job& job, int64_t tokens) const {
  switch (policy_.scheduler.admission) {
    case Admission::kNeeded:
      return BlocksFor(job, tokens) <= free_;
    case Admission::kReserve:
      return BlocksFor(job, job.input + job.output) <= free_;
    case Admission::kEstimated:
      break;
  }
  const auto expected = static_cast<double>(job.output - job.produced) * ratio_ / static_cast<double>(policy_.block);
  const auto now = static_cast<double>(BlocksFor(job, job.input + job.produced));
  return running_.empty() ? BlocksFor(job, tokens) <= free_
                          : now + expected + StillToCome() <= static_cast<double>(free_);
}

// Tokens of a prompt that this step takes; 0: none.
int64_t Replica::PromptRows(const Plan& plan, const Job& job, int64_t target) const {
  const int64_t left = target - job.computed;
  if (policy_.scheduler.chunked) return std::min(left, plan.budget);
  return left <= plan.budget || plan.shape.prompt_tokens == 0 ? left : 0;
}

void Replica::Take(Plan& plan, Slot& slot, int64_t rows) {
  StepShape& shape = plan.shape;
  const auto n = static_cast<double>(rows);
  const auto before = static_cast<double>(slot.job.computed);
  if (slot.prompt()) {
    shape.prompt_tokens += n;
    shape.prompt_requests += 1;
    shape.prompt_ends += slot.job.computed + rows >= slot.target ? 1 : 0;
    shape.prompt_context += before + n;
    shape.prompt_pairs += n * (before + (n + 1) / 2);
  } else {
    shape.decode_requests += 1;
    shape.decode_rows += n;
    shape.decode_context += before + 1;
  }
  slot.rows = rows;
  slot.step = plan.serial;
  plan.budget -= rows;
  --plan.requests;
}

void Replica::Preempt(size_t index) {
  Slot& slot = running_[index];
  free_ += slot.blocks;
  Job job = slot.job;
  if (policy_.scheduler.preemption == Preemption::kSwap) {
    job.swapped = job.computed;
  } else {
    job.computed = job.shared;
  }
  waiting_.push_front(job);
  running_.erase(running_.begin() + static_cast<long>(index));
  ++counts_.preemptions;
  ratio_ = policy_.output_ratio;
}

// Blocks for the tokens of a running request, if need be those of the youngest; false: it cannot run in this step.
bool Replica::MakeRoom(size_t index, int64_t tokens) {
  const int64_t more = BlocksFor(running_[index].job, tokens) - running_[index].blocks;
  while (more > free_) {
    if (policy_.scheduler.preemption == Preemption::kNone) return false;
    size_t youngest = running_.size();
    while (youngest > index && running_[youngest - 1].step != 0) --youngest;
    if (youngest <= index) return false;
    Preempt(youngest - 1);
    if (youngest - 1 == index) return false;
  }
  if (more > 0) {
    free_ -= more;
    running_[index].blocks += more;
  }
  return true;
}

void Replica::PlanRunning(Plan& plan, bool prompts, bool decodes) {
  for (size_t i = 0; i < running_.size() && plan.budget > 0 && plan.requests > 0; ++i) {
    Slot& slot = running_[i];
    if (slot.step != 0 || slot.done || (slot.prompt() ? !prompts : !decodes)) continue;
    const int64_t rows = slot.prompt() ? PromptRows(plan, slot.job, slot.target) : 1 + policy_.speculation.drafts;
    if (rows == 0) continue;
    if (MakeRoom(i, slot.job.computed + rows)) Take(plan, running_[i], rows);
  }
}

void Replica::Admit(Plan& plan) {
  while (!waiting_.empty() && plan.budget > 0 && plan.requests > 0 &&
         running_.size() < static_cast<size_t>(policy_.max_requests)) {
    Slot slot{.job = waiting_.front(), .target = TargetOf(waiting_.front())};
    const bool decodes = !slot.prompt();
    const int64_t rows = decodes ? 1 + policy_.speculation.drafts : PromptRows(plan, slot.job, slot.target);
    if (rows == 0 || !HasBlocksFor(slot.job, slot.job.computed + rows)) return;
    const bool reserves = policy_.scheduler.admission == Admission::kReserve;
    slot.blocks = BlocksFor(slot.job, reserves ? slot.job.input + slot.job.output : slot.job.computed + rows);
    free_ -= slot.blocks;
    plan.shape.moved_tokens += static_cast<double>(slot.job.swapped);
    slot.job.swapped = 0;
    admitted_.push_back(slot.job.request);
    waiting_.pop_front();
    running_.push_back(slot);
    if (!decodes || policy_.scheduler.prompts != Prompts::kFirst) Take(plan, running_.back(), rows);
  }
}

Replica::Plan Replica::MakePlan() {
  Plan plan{.shape = {}, .budget = policy_.max_tokens, .requests = policy_.max_requests, .serial = serial_ + 1};
  if (policy_.stages > 1) {  // micro-batches of equal size
    const auto all = static_cast<int64_t>(std::min(load(), static_cast<size_t>(policy_.max_requests)));
    plan.requests = std::max<int64_t>(CeilDivide(all, policy_.stages), 1);
  }
  const int64_t before = counts_.preemptions;
  switch (policy_.scheduler.prompts) {
    case Prompts::kMixed:
      PlanRunning(plan, true, true);
      if (counts_.preemptions == before) Admit(plan);
      return plan;
    case Prompts::kStatic:
      if (running_.empty()) Admit(plan);
      PlanRunning(plan, true, true);
      return plan;
    case Prompts::kFirst:
      break;
  }
  PlanRunning(plan, true, false);
  Admit(plan);
  plan.budget = std::max(plan.budget, policy_.max_requests * (1 + policy_.speculation.drafts));
  if (plan.shape.prompt_tokens == 0) PlanRunning(plan, false, true);
  return plan;
}

bool Replica::Start(double now) {
  admitted_.clear();
  if (steps_.size() >= static_cast<size_t>(policy_.stages) || now < entry_free_ || load() == 0) return false;
  const Plan plan = MakePlan();
  if (plan.shape.rows() == 0) return false;
  Begin(plan, now);
  return true;
}

void Replica::Begin(const Plan& plan, double now) {
  const StepCost cost = model_.CostOf(plan.shape);
  const Overheads& o = policy_.overheads;
  const double requests = plan.shape.decode_requests + plan.shape.prompt_requests;
  const double host = o.request_s * requests;
  const auto stages = static_cast<double>(policy_.stages);
  const double stage = cost.seconds / stages;
  const double entry = OnGrid(o.step_s + (o.asynchronous ? std::max(stage, host) : stage + host));
  const double whole = entry + OnGrid(cost.seconds - stage);
  serial_ = plan.serial;
  entry_free_ = now + entry;
  last_end_ = std::max(last_end_, now + whole);
  steps_.push_back({.end = last_end_, .serial = serial_});
  ++counts_.steps;
  counts_.busy_s += entry;
  counts_.computed_tokens += plan.shape.rows();
  if (plan.shape.decode_requests > 0) {
    counts_.decode_steps += 1;
    counts_.decode_requests += plan.shape.decode_requests;
    ratio_ = std::max(kLeastRatio, ratio_ - kRatioDecay);
  }
  for (size_t i = 0; i < kParts; ++i) counts_.parts[i] += cost.parts[i];
  counts_.parts[static_cast<size_t>(Part::kHost)] += whole - cost.seconds;
}

int64_t Replica::Advance(Slot& slot) {
  Job& job = slot.job;
  if (slot.prompt()) {
    job.computed += slot.rows;
    if (slot.prompt()) return 0;
    ++job.produced;
    return 1;
  }
  int64_t tokens = 1;
  while (tokens < slot.rows && random_.Uniform() < policy_.speculation.acceptance) ++tokens;
  tokens = std::min(tokens, job.output - job.produced);
  job.computed += tokens;
  job.produced += tokens;
  slot.target = job.computed;
  return tokens;
}

void Replica::Finish(std::vector<Delivery>& delivered) {
  const int64_t serial = steps_.front().serial;
  steps_.pop_front();
  bool any_done = false;
  for (Slot& slot : running_) {
    if (slot.step != serial) continue;
    slot.step = 0;
    if (Advance(slot) == 0) continue;
    slot.done = slot.job.produced >= slot.job.output;
    any_done = any_done || slot.done;
    delivered.push_back({.request = slot.job.request, .produced = slot.job.produced, .finished = slot.done});
  }
  if (any_done) RemoveFinished();
}

void Replica::RemoveFinished() {
  const bool whole_batch = policy_.scheduler.prompts == Prompts::kStatic;
  if (whole_batch && !std::all_of(running_.begin(), running_.end(), [](const Slot& s) { return s.done; })) return;
  const auto end = std::remove_if(running_.begin(), running_.end(), [&](const Slot& slot) {
    if (slot.done) free_ += slot.blocks;
    return slot.done;
  });
  running_.erase(end, running_.end());
}

}  // namespace hespas::serve
