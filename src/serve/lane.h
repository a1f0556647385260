// The queue of one micro-batch, the requests that run in it, and their blocks of the cache.
//
// - An engine has as many as pipeline stages, each with its share of the blocks, as vLLM's virtual engines have
//   (engine/llm_engine.py and core/scheduler.py of 0.8); at most one step of a lane is under way.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "serve/decode_group.h"
#include "serve/job.h"
#include "serve/load/random.h"
#include "serve/policy.h"
#include "serve/step.h"

namespace hespas::serve {

class Lane {
 public:
  Lane(const Policy& policy, int64_t blocks, uint64_t seed);

  void Submit(const Job& job) { waiting_.push_back(job); }
  // Takes requests into the next step; no rows: none can run.
  StepShape Begin();
  // Ends the step.
  void Finish(double now, std::vector<Delivery>& delivered);

  // False of requests that would never get blocks.
  bool Fits(const Job& job) const;
  size_t load() const { return waiting_.size() + running_.size(); }
  size_t running() const { return running_.size(); }
  size_t waiting() const { return waiting_.size(); }
  int64_t free_blocks() const { return free_; }
  int64_t preemptions() const { return preemptions_; }
  // Requests that the last step was the first to take.
  const std::vector<int32_t>& admitted() const { return admitted_; }

 private:
  struct Slot {
    Job job;
    int64_t target = 0;  // tokens to compute before the next one is produced
    int64_t blocks = 0;
    int64_t rows = 0;   // in the step under way; 0: not in it
    bool done = false;  // of a static batch, whose longest request still runs
    DecodeGroup::Entry entry{};
    bool prompt() const { return job.computed < target; }
  };
  struct Plan {
    StepShape shape;
    int64_t budget = 0;    // rows left
    int64_t requests = 0;  // that may still join
  };

  int64_t BlocksFor(const Job& job, int64_t tokens) const;
  static int64_t TokensAfter(const Job& job, int64_t rows);  // in the cache, after that many more
  double StillToCome() const;                                // blocks that the running requests are expected to need
  bool HasBlocksFor(const Job& job, int64_t tokens) const;
  int64_t PromptRows(const Plan& plan, const Job& job, int64_t target) const;
  void PlanRunning(Plan& plan, bool prompts, bool decodes);
  bool PlanGroup(Plan& plan);  // false: not all of its members can decode
  void Admit(Plan& plan);
  bool MakeRoom(size_t index, int64_t tokens);
  void Preempt(size_t index);
  void Take(Plan& plan, Slot& slot, int64_t rows);
  Plan MakePlan();
  int64_t Advance(Slot& slot);  // tokens produced
  bool FinishGroup(double now, std::vector<Delivery>& delivered);
  void RemoveFinished();
  // Of the first running requests, `group_`.
  bool Joins(const Slot& slot) const;
  void JoinGroup(size_t decoded);  // those up to there that were in the last step
  void BringUpToDate(Slot& slot);
  void DissolveGroup();

  Policy policy_;
  Random random_;
  std::deque<Job> waiting_;
  std::deque<Slot> running_;  // oldest first; those that leave are mostly the oldest
  DecodeGroup group_;         // of the first of them
  bool group_in_step_ = false;
  size_t done_ = 0;  // of those running
  std::vector<int32_t> admitted_;
  int64_t free_ = 0;
  int64_t capacity_ = 0;
  int64_t preemptions_ = 0;
  double ratio_ = 0;
};

}  // namespace hespas::serve
