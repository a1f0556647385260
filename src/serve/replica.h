// One engine: its lanes, and the steps of theirs that are under way in its pipeline.
//
// - A request joins the lane with the fewest. Lanes begin steps in turn; a step enters when the one before it has left
//   the first stage, and each stage takes steps in that order.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <limits>
#include <vector>

#include "serve/lane.h"
#include "serve/stages.h"

namespace hespas::serve {

inline constexpr double kNever = std::numeric_limits<double>::infinity();

struct ReplicaCounts {
  int64_t steps = 0;
  int64_t preemptions = 0;
  double computed_tokens = 0;  // prompt and decode rows
  double decode_steps = 0;
  double decode_requests = 0;  // over those steps
  double busy_s = 0;
  std::array<double, kParts> parts{};
};

struct StepRecord {
  double start = 0;
  double end = 0;
  double decode_rows = 0;
  double prompt_tokens = 0;
};

class Replica {
 public:
  Replica(const Policy& policy, const StepModel& steps, uint64_t seed);

  void Submit(const Job& job);
  // When the oldest step ends; kNever where none is under way.
  double NextEnd() const { return steps_.empty() ? kNever : steps_.front().end; }
  // When a step could begin, were there work: now, or when the first stage is free.
  double NextStart() const { return stages_.first_free(); }
  // Begins a step if there is work that can run; nullptr otherwise. Its lane knows which requests it admitted. Where
  // nothing could run, nothing can until a request comes or a step ends.
  const Lane* Start(double now);
  // Ends the oldest step.
  void Finish(double now, std::vector<Delivery>& delivered);

  bool Fits(const Job& job) const { return lanes_.front().Fits(job); }
  bool HasWork() const { return with_work_ > 0; }  // in a lane without a step under way
  bool blocked() const { return blocked_; }
  size_t running() const;
  size_t waiting() const;
  int64_t free_blocks() const;
  ReplicaCounts counts() const;
  const StepRecord& last_step() const { return last_step_; }  // that began

 private:
  struct Step {
    double end = 0;
    size_t lane = 0;
  };
  void Count(const StepShape& shape, const StepCost& cost);
  double Enter(const StepShape& shape, double now);  // into the pipeline; when it leaves it

  Policy policy_;
  const StepModel& model_;
  std::vector<Lane> lanes_;
  std::vector<char> under_way_;  // of each lane: a step
  size_t with_work_ = 0;         // lanes with requests and without a step under way
  bool blocked_ = true;          // no lane can begin a step
  std::deque<Step> steps_;
  Stages stages_;
  size_t next_ = 0;  // lane
  StepRecord last_step_;
  ReplicaCounts counts_;
};

}  // namespace hespas::serve
