// Requests of a lane that all decode one token in each of its steps, counted together: a step of a thousand costs as
// much as one of a single request.
//
// - Members are brought up to date when they leave; until then their jobs are those of the step after which they
// joined.
// - Members joined after a step of the whole group that they were in, so they saw their last tokens at the same time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include "serve/job.h"

namespace hespas::serve {

class DecodeGroup {
 public:
  // What a member was when it joined.
  struct Entry {
    int64_t step = 0;
    int64_t blocks = 0;
    int64_t need = kNoNeed;  // of a block: steps modulo its tokens
    int64_t order = 0;       // of joining
  };

  explicit DecodeGroup(int64_t block)
      : block_(block), needs_(block <= kLargestBlock ? static_cast<size_t>(block) : 0) {}

  // Whether a request with so many blocks can be counted with others.
  bool Admits(const Job& job, int64_t blocks) const;
  Entry Join(const Job& job, int64_t blocks);
  // `job` as it is now.
  void Leave(Entry entry, const Job& job);
  // Brings a member's job up to date; returns its blocks.
  int64_t Bring(Entry entry, Job& job) const;
  int64_t EndOf(Entry entry, const Job& job) const { return entry.step + job.output - job.produced; }
  // Those who end with this step and have not been taken, by their order; they leave next.
  const std::vector<int64_t>& TakeEnded();

  bool empty() const { return size_ == 0; }
  int64_t size() const { return size_; }
  int64_t step() const { return step_; }
  int64_t context() const { return context_ + size_; }  // tokens that the next step attends to
  int64_t to_come() const { return to_come_; }          // tokens that members have yet to produce
  int64_t blocks_needed() const {
    return empty() ? 0 : needs_[static_cast<size_t>(step_ % block_)];
  }  // by the next step
  double seen() const { return seen_; }
  // A step of all members that ends at `now`.
  void Step(double now);

 private:
  static constexpr int64_t kLargestBlock = 1024;  // tokens
  static constexpr int64_t kNoNeed = -1;

  // Steps after which a request's blocks are full.
  int64_t Room(const Job& job, int64_t blocks) const { return job.shared + blocks * block_ - job.computed; }
  // A request that has blocks for its whole answer needs no more.
  bool Grows(const Job& job, int64_t blocks) const { return job.shared + blocks * block_ < job.input + job.output; }
  void Count(const Entry& entry, const Job& job, int64_t times);

  int64_t block_;
  int64_t size_ = 0;
  int64_t step_ = 0;
  int64_t context_ = 0;
  int64_t to_come_ = 0;
  int64_t joined_ = 0;
  double seen_ = kUnseen;
  using End = std::pair<int64_t, int64_t>;  // step and order
  std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
  std::vector<int64_t> ended_;
  std::vector<int64_t> needs_;  // members that need a block, by step modulo its tokens
};

}  // namespace hespas::serve
