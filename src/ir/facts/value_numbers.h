// Numbers of values such that equal numbers mean equal values, wherever in a program they are made.
//
// - Optimization barriers, copies, shardings and added or dropped unit dimensions are seen through.
// - A loop's iterations are one: what a loop reads of an array at its own iteration has the number of what an earlier
//   loop wrote there at its own, and equal reads of one array have equal numbers in all loops. So values that the loop
//   of a backward pass computes again are found whatever the order in which it counts.
// - A second number, `strict`, does not look through barriers: values of equal strict numbers are merged by CSE.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ir/module.h"

namespace hespas::ir {

struct ValueNumber {
  uint64_t through = 0;
  uint64_t strict = 0;
};

// Index values of one loop's body in the order of their first use: the same place in two loops.
using IterationIndices = std::unordered_map<uint64_t, uint64_t>;

class ValueNumbers {
 public:
  explicit ValueNumbers(const Module& module);

  const ValueNumber& of(ValueId value) const { return numbers_[value.index()]; }
  void Set(ValueId value, const ValueNumber& number) { numbers_[value.index()] = number; }

  // Numbers the results of an op. `bodies`: numbers of what its regions return.
  void Number(OpId op, std::span<const ValueNumber> bodies, IterationIndices& indices);

  // An unknown value that `loop` carries, and what the loop leaves there, given what its body returns.
  ValueNumber Carried(OpId loop, size_t index, const ValueNumber& initial);
  ValueNumber LeftBy(OpId loop, size_t index, const ValueNumber& carried, const ValueNumber& returned);

 private:
  struct Write {
    uint64_t target = 0;
    ValueId update;
    ValueNumber number;
  };
  struct Squeezed {
    ValueNumber root;
    TypeId type;
  };

  bool IsPlacement(NameId name);
  uint64_t TextOf(OpId op);
  bool Alias(OpId op);
  bool Reshape(OpId op);
  bool Element(OpId op, const IterationIndices& indices);
  void TagIteration(OpId op);

  const Module& module_;
  std::vector<ValueNumber> numbers_;
  std::vector<std::optional<bool>> placement_;  // by name
  std::vector<uint64_t> texts_;                 // by op: name, attributes and types; 0: not asked yet
  std::unordered_map<uint64_t, std::vector<ValueNumber>> tuples_;
  std::unordered_map<uint64_t, Squeezed> squeezed_;
  std::unordered_map<uint64_t, Write> writes_;  // of dynamic_update_slice
  std::unordered_map<uint64_t, Write> stacks_;  // arrays that loops wrote an element an iteration
  std::unordered_set<uint64_t> iteration_;      // integers that change with a loop's iteration
};

}  // namespace hespas::ir
