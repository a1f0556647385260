// What a buffer is for, from where its value comes from and where it goes.
//
// - A donated argument that flows into a matmul or a look-up is a parameter, any other donated one optimiser state.
//   An argument that is not donated is an input where it is integer or a matmul's left side, else a parameter.
// - A value that flows into no matmul any more but into a donated result is a gradient (or what is made of it).
//   Results of collectives are communication buffers, gradients aside.
// - Of the rest, what lives across the first gradient is an activation; everything else is temporary.
#pragma once

#include <span>
#include <vector>

#include "ir/module.h"
#include "memory/buffers/donation.h"
#include "result/memory_curve.h"

namespace hespas::memory {

class Categories {
 public:
  // `order`: the ops of main as they run.
  Categories(const ir::Module& module, std::span<const ir::OpId> order, const Donation& donation);

  result::MemoryCategory Of(ir::ValueId value) const { return of_[value.index()]; }
  // Of a value inside a loop, branch or call.
  result::MemoryCategory OfNested(ir::ValueId value) const;

 private:
  void MarkArguments();
  void MarkValues(std::span<const ir::OpId> order);
  bool IsInput(ir::ValueId argument) const;

  const ir::Module& module_;
  const Donation& donation_;
  ir::BlockId block_;
  std::vector<bool> feeds_matmul_;  // by value
  std::vector<bool> feeds_donated_;
  std::vector<result::MemoryCategory> of_;
};

}  // namespace hespas::memory
