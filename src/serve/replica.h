// One engine: its queue, the requests that run, the blocks of its cache, and the steps under way.
//
// - Steps end in the order in which they began. With pipeline stages several are under way, each with requests of its
//   own; a step enters when the one before it has left the first stage.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <limits>
#include <vector>

#include "serve/policy.h"
#include "serve/random.h"
#include "serve/step.h"

namespace hespas::serve {

inline constexpr double kNever = std::numeric_limits<double>::infinity();

struct Job {
  int32_t request = 0;
  int64_t input = 1;     // tokens of the prompt
  int64_t output = 1;    // to produce
  int64_t produced = 0;  // before: by a prefill worker
  int64_t computed = 0;  // tokens whose keys and values are in the cache
  int64_t shared = 0;    // of them in blocks of a common prefix
  int64_t swapped = 0;   // tokens that wait in the host's memory
};

// Tokens of one request that a step's end delivered.
struct Delivery {
  int32_t request = 0;
  int64_t produced = 0;  // so far
  bool finished = false;
};

struct ReplicaCounts {
  int64_t steps = 0;
  int64_t preemptions = 0;
  double computed_tokens = 0;  // prompt and decode rows
  double decode_steps = 0;
  double decode_requests = 0;  // over those steps
  double busy_s = 0;
  double running_most = 0;
  std::array<double, kParts> parts{};
};

class Replica {
 public:
  Replica(const Policy& policy, const StepModel& steps, uint64_t seed);

  void Submit(const Job& job) { waiting_.push_back(job); }
  // When the oldest step ends; kNever where none is under way.
  double NextEnd() const { return steps_.empty() ? kNever : steps_.front().end; }
  // When a step could begin, were there work: now, or when the first stage is free.
  double NextStart() const { return entry_free_; }
  // Begins a step if there is work that can run; false otherwise.
  bool Start(double now);
  // Ends the oldest step.
  void Finish(std::vector<Delivery>& delivered);

  // Requests that would never get blocks.
  bool Fits(const Job& job) const;
  size_t load() const { return waiting_.size() + running_.size(); }
  size_t running() const { return running_.size(); }
  size_t waiting() const { return waiting_.size(); }
  int64_t free_blocks() const { return free_; }
  // Started requests, by request, of the last step that began.
  const std::vector<int32_t>& admitted() const { return admitted_; }
  const ReplicaCounts& counts() const { return counts_; }

 private:
  struct Slot {
    Job job;
    int64_t target = 0;  // tokens to compute before the next one is produced
    int64_t blocks = 0;
    int64_t rows = 0;   // in the step under way
    int64_t step = 0;   // its serial number; 0: none
    bool done = false;  // of a static batch, whose longest request still runs
    bool prompt() const { return job.computed < target; }
  };
  struct Step {
    double end = 0;
    int64_t serial = 0;
  };
  struct Plan {
    StepShape shape;
    int64_t budget = 0;    // rows left
    int64_t requests = 0;  // that may still join
    int64_t serial = 0;
  };

  int64_t BlocksFor(const Job& job, int64_t tokens) const;
  double StillToCome() const;  // blocks that the running requests are expected to need
  bool HasBlocksFor(const Job& job, int64_t tokens) const;
  int64_t PromptRows(const Plan& plan, const Job& job, int64_t target) const;
  void PlanRunning(Plan& plan, bool prompts, bool decodes);
  void Admit(Plan& plan);
  bool MakeRoom(size_t index, int64_t tokens);
  void Preempt(size_t index);
  void Take(Plan& plan, Slot& slot, int64_t rows);
  Plan MakePlan();
  void Begin(const Plan& plan, double now);
  int64_t Advance(Slot& slot);  // tokens produced
  void RemoveFinished();

  Policy policy_;
  const StepModel& model_;
  Random random_;
  std::deque<Job> waiting_;
  std::vector<Slot> running_;  // oldest first
  std::deque<Step> steps_;
  std::vector<int32_t> admitted_;
  int64_t free_ = 0;
  int64_t capacity_ = 0;
  int64_t serial_ = 0;
  double entry_free_ = 0;
  double last_end_ = 0;
  double ratio_ = 0;
  ReplicaCounts counts_;
};

}  // namespace hespas::serve
