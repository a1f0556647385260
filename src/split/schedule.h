// The order in which the ops of a program run: `main`, with calls, counted loops and branches that communicate laid out
// (of branches the one that communicates most).
//
// - A step is one execution of an op; the ops of a laid-out loop have one for every iteration.
// - Other calls, loops and branches are single steps.
#pragma once

#include <span>
#include <vector>

#include "ir/module.h"
#include "split/program.h"

namespace hespas::split {

struct Schedule {
  static constexpr uint32_t kNowhere = 0xFFFFFFFFu;

  std::vector<uint32_t> position;      // of the op in Program::ops, by step
  std::vector<bool> returned_results;  // by value: handed on by a laid-out body or returned

  // For each use of the op (Program::uses), the step that makes the value; kNowhere for arguments of `main`.
  std::span<const uint32_t> makers(size_t step) const {
    return {makers_.data() + begin_[step], begin_[step + 1] - begin_[step]};
  }

  std::vector<uint32_t> makers_;
  std::vector<size_t> begin_;
};

// Appends ops of laid-out bodies to `program`.
Schedule MakeSchedule(const ir::Module& module, Program& program);

}  // namespace hespas::split
