// The order in which the ops of a program run: `main`, with calls, counted loops and branches that communicate laid out
// (of branches the one that communicates most).
//
// - A step is one execution of an op; the ops of a laid-out loop have one for every iteration.
// - A loop's condition is left out, since its trip count is known (ir::TestsEachIteration). A loop whose count is only
//   assumed, and whose condition communicates, is a single step.
// - Of a laid-out loop two iterations are under way at most: what an iteration can start with waits for the computation
//   of the last but one iteration before it.
// - Of a loop with many iterations a few are laid out; one window of them represents the others (RepeatedLoop).
// - Other calls, loops and branches are single steps.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "base/repeated_loop.h"
#include "ir/module.h"
#include "split/program.h"

namespace hespas::split {

struct Schedule {
  static constexpr uint32_t kNowhere = 0xFFFFFFFFu;

  std::vector<uint32_t> position;      // of the op in Program::ops, by step
  std::vector<bool> returned_results;  // by value: handed on by a laid-out body or returned

  std::vector<int64_t> repeats;                      // how often the step counts, by step; none where all count once
  std::vector<RepeatedLoop> loops;                   // `first_block` holds steps
  std::vector<std::pair<uint32_t, uint32_t>> waits;  // a step and one that it waits for beside producers, by step

  // For each use of the op (Program::uses), the step that makes the value; kNowhere for arguments of `main`.
  std::span<const uint32_t> producers(size_t step) const {
    return {producers_.data() + begin_[step], begin_[step + 1] - begin_[step]};
  }

  std::vector<uint32_t> producers_;
  std::vector<size_t> begin_;
};

// Appends ops of laid-out bodies to `program`. `window`: of IterationsLaidOut; `fallback` where that is too long.
Schedule MakeSchedule(const ir::Module& module, Program& program, int64_t window, int64_t fallback);

}  // namespace hespas::split
