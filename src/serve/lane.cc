#include "serve/lane.h"

#include <algorithm>
#include <limits>

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

Lane::Lane(const Policy& policy, int64_t blocks, uint64_t seed)
    : policy_(policy), random_(seed), group_(policy.block), ratio_(policy.output_ratio) {
  capacity_ = blocks > 0 ? blocks : std::numeric_limits<int64_t>::max() / 4;
  free_ = capacity_;
}

int64_t Lane::BlocksFor(const Job& job, int64_t tokens) const {
  return CeilDivide(policy_.window.Kept(std::max<int64_t>(tokens - job.shared, 0)), policy_.block);
}

// Drafts beyond the end of the answer are not kept.
int64_t Lane::TokensAfter(const Job& job, int64_t rows) {
  return std::min(job.computed + rows, job.input + job.output);
}

bool Lane::Fits(const Job& job) const { return BlocksFor(job, job.input + job.output) <= capacity_; }

double Lane::StillToCome() const {
  auto tokens = static_cast<double>(group_.to_come());
  for (auto i = static_cast<size_t>(group_.size()); i < running_.size(); ++i)
    tokens += static_cast<double>(running_[i].job.output - running_[i].job.produced);
  return ratio_ * tokens / static_cast<double>(policy_.block);
}

bool Lane::HasBlocksFor(const Job& job, int64_t tokens) const {
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
int64_t Lane::PromptRows(const Plan& plan, const Job& job, int64_t target) const {
  const int64_t left = target - job.computed;
  if (policy_.scheduler.chunked) return std::min(left, plan.budget);
  return left <= plan.budget || plan.shape.prompt_tokens == 0 ? left : 0;
}

void Lane::Take(Plan& plan, Slot& slot, int64_t rows) {
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
  plan.budget -= rows;
  --plan.requests;
}

void Lane::Preempt(size_t index) {
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
  ++preemptions_;
  ratio_ = policy_.output_ratio;
}

// Blocks for the tokens of a running request, if need be those of the youngest; false: it cannot run in this step.
bool Lane::MakeRoom(size_t index, int64_t tokens) {
  const Slot& slot = running_[index];  // most steps end within its last block
  if (policy_.window.share == 0 && tokens - slot.job.shared <= slot.blocks * policy_.block) return true;
  const int64_t more = BlocksFor(running_[index].job, tokens) - running_[index].blocks;
  while (more > free_) {
    if (policy_.scheduler.preemption == Preemption::kNone) return false;
    size_t youngest = running_.size();
    while (youngest > index && (running_[youngest - 1].rows != 0 || running_[youngest - 1].done)) --youngest;
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

bool Lane::PlanGroup(Plan& plan) {
  const int64_t n = group_.size();
  if (n > plan.budget || n > plan.requests || group_.blocks_needed() > free_) return false;
  free_ -= group_.blocks_needed();
  plan.shape.decode_requests += static_cast<double>(n);
  plan.shape.decode_rows += static_cast<double>(n);
  plan.shape.decode_context += static_cast<double>(group_.context());
  plan.budget -= n;
  plan.requests -= n;
  group_in_step_ = n > 0;
  return true;
}

void Lane::PlanRunning(Plan& plan, bool prompts, bool decodes) {
  if (decodes && !PlanGroup(plan)) DissolveGroup();
  for (auto i = static_cast<size_t>(group_.size()); i < running_.size() && plan.budget > 0 && plan.requests > 0; ++i) {
    Slot& slot = running_[i];
    if (slot.rows != 0 || slot.done || (slot.prompt() ? !prompts : !decodes)) continue;
    const int64_t rows = slot.prompt() ? PromptRows(plan, slot.job, slot.target) : 1 + policy_.speculation.drafts;
    if (rows == 0) continue;
    if (MakeRoom(i, TokensAfter(slot.job, rows))) Take(plan, running_[i], rows);
  }
}

void Lane::Admit(Plan& plan) {
  while (!waiting_.empty() && plan.budget > 0 && plan.requests > 0 &&
         running_.size() < static_cast<size_t>(policy_.max_requests)) {
    Slot slot{.job = waiting_.front(), .target = TargetOf(waiting_.front())};
    const bool decodes = !slot.prompt();
    const int64_t rows = decodes ? 1 + policy_.speculation.drafts : PromptRows(plan, slot.job, slot.target);
    const int64_t tokens = TokensAfter(slot.job, rows);
    if (rows == 0 || !HasBlocksFor(slot.job, tokens)) return;
    const bool reserves = policy_.scheduler.admission == Admission::kReserve;
    slot.blocks = BlocksFor(slot.job, reserves ? slot.job.input + slot.job.output : tokens);
    free_ -= slot.blocks;
    plan.shape.moved_tokens += static_cast<double>(slot.job.swapped);
    slot.job.swapped = 0;
    admitted_.push_back(slot.job.request);
    waiting_.pop_front();
    running_.push_back(slot);
    if (!decodes || policy_.scheduler.prompts != Prompts::kFirst) Take(plan, running_.back(), rows);
  }
}

Lane::Plan Lane::MakePlan() {
  Plan plan{.shape = {}, .budget = policy_.max_tokens, .requests = policy_.max_requests};
  const int64_t before = preemptions_;
  switch (policy_.scheduler.prompts) {
    case Prompts::kMixed:
      PlanRunning(plan, true, true);
      if (preemptions_ == before) Admit(plan);
      return plan;
    case Prompts::kStatic:
      if (running_.empty()) Admit(plan);
      PlanRunning(plan, true, true);
      if (done_ == running_.size()) {  // the last that ran gave up its blocks
        RemoveFinished();
        Admit(plan);
      }
      return plan;
    case Prompts::kFirst:
      break;
  }
  PlanRunning(plan, true, false);
  if (preemptions_ == before) Admit(plan);  // else a prompt that gave up its blocks would start again before any decode
  plan.budget = std::max(plan.budget, policy_.max_requests * (1 + policy_.speculation.drafts));
  if (plan.shape.prompt_tokens == 0) PlanRunning(plan, false, true);
  return plan;
}

StepShape Lane::Begin() {
  admitted_.clear();
  const StepShape shape = MakePlan().shape;
  if (shape.decode_requests > 0) ratio_ = std::max(kLeastRatio, ratio_ - kRatioDecay);
  return shape;
}

int64_t Lane::Advance(Slot& slot) {
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

bool Lane::FinishGroup(double now, std::vector<Delivery>& delivered) {
  delivered.push_back({.gaps = group_.size(), .seen = group_.seen()});
  group_.Step(now);
  auto member = running_.begin();
  const auto end = member + static_cast<long>(group_.size());
  for (const int64_t order : group_.TakeEnded()) {
    member = std::lower_bound(member, end, order, [](const Slot& s, int64_t o) { return s.entry.order < o; });
    BringUpToDate(*member);
    member->done = true;
    ++done_;
    delivered.push_back({.request = member->job.request, .gaps = 0, .seen = now, .finished = true});
  }
  return done_ > 0;
}

void Lane::Finish(double now, std::vector<Delivery>& delivered) {
  auto decoded = static_cast<size_t>(group_.size());  // up to there all requests decoded in this step
  bool all = group_in_step_ || group_.empty();
  bool any_done = group_in_step_ && FinishGroup(now, delivered);
  group_in_step_ = false;
  for (size_t i = decoded; i < running_.size(); ++i) {
    Slot& slot = running_[i];
    const bool decodes = slot.rows != 0 && !slot.prompt();
    const int64_t tokens = slot.rows != 0 ? Advance(slot) : 0;
    slot.rows = 0;
    all = all && decodes && Joins(slot);
    if (tokens == 0) continue;
    slot.done = slot.job.produced >= slot.job.output;
    done_ += slot.done ? 1 : 0;
    any_done = any_done || slot.done;
    delivered.push_back({.request = slot.job.request, .seen = slot.job.seen, .finished = slot.done});
    slot.job.seen = now;
    if (all) decoded = i + 1;
  }
  JoinGroup(decoded);
  if (any_done) RemoveFinished();
}

// Tokens of speculation come at random, and windows hold fewer blocks than tokens would fill.
bool Lane::Joins(const Slot& slot) const {
  return policy_.speculation.drafts == 0 && policy_.window.share == 0 &&
         policy_.scheduler.prompts != Prompts::kStatic && group_.Admits(slot.job, slot.blocks);
}

void Lane::JoinGroup(size_t decoded) {
  for (auto i = static_cast<size_t>(group_.size()); i < decoded; ++i)
    running_[i].entry = group_.Join(running_[i].job, running_[i].blocks);
}

void Lane::BringUpToDate(Slot& slot) {
  slot.blocks = group_.Bring(slot.entry, slot.job);
  slot.target = slot.job.computed;
}

void Lane::DissolveGroup() {
  for (size_t i = 0; i < static_cast<size_t>(group_.size()); ++i) BringUpToDate(running_[i]);
  group_ = DecodeGroup(policy_.block);
}

void Lane::RemoveFinished() {
  if (policy_.scheduler.prompts == Prompts::kStatic && done_ < running_.size()) return;  // the whole batch
  group_.TakeEnded();  // those that joined as they ended
  const auto members = static_cast<size_t>(group_.size());
  const auto leave = [&](Slot& slot, size_t index) {
    free_ += slot.blocks;
    if (index < members) group_.Leave(slot.entry, slot.job);
    --done_;
  };
  size_t gone = 0;
  for (; !running_.empty() && running_.front().done; running_.pop_front()) leave(running_.front(), gone++);
  if (done_ == 0) return;
  size_t kept = 0;
  for (size_t i = 0; i < running_.size(); ++i) {
    Slot& slot = running_[i];
    if (slot.done) {
      leave(slot, gone + i);
    } else {
      if (kept != i) running_[kept] = slot;
      ++kept;
    }
  }
  running_.resize(kept);
}

}  // namespace hespas::serve
