// The rules behind CostOf (cost.h), and what they ask of an op; for the files that hold them.
#pragma once

#include <cstdint>
#include <optional>

#include "base/units.h"
#include "estimate/cost.h"
#include "ir/module.h"

namespace hespas::estimate {

// Sizes of one op's operands and results.
struct Shapes {
  const ir::Module& module;
  ir::OpId op;

  size_t inputs() const { return module.op(op).operand_count; }
  size_t outputs() const { return module.op(op).result_count; }
  const ir::Type& in(size_t i) const { return module.type(module.operands(op)[i]); }
  const ir::Type& out(size_t i = 0) const { return module.type(module.result(op, i)); }
  int64_t in_bytes(size_t i) const {
    return i < inputs() ? ir::ByteSize(module.types(), module.type_id(module.operands(op)[i])) : 0;
  }
  int64_t out_bytes(size_t i = 0) const {
    return i < outputs() ? ir::ByteSize(module.types(), module.type_id(module.result(op, i))) : 0;
  }
  int64_t in_elements(size_t i) const { return i < inputs() ? in(i).element_count() : 0; }
  int64_t out_elements(size_t i = 0) const { return i < outputs() ? out(i).element_count() : 0; }

  int64_t all_in() const {
    int64_t sum = 0;
    for (size_t i = 0; i < inputs(); ++i) sum = internal::SaturatingAdd(sum, in_bytes(i));
    return sum;
  }
  int64_t all_out() const {
    int64_t sum = 0;
    for (size_t i = 0; i < outputs(); ++i) sum = internal::SaturatingAdd(sum, out_bytes(i));
    return sum;
  }
  int64_t all() const { return internal::SaturatingAdd(all_in(), all_out()); }
};

inline int64_t Times(int64_t a, int64_t b) { return internal::SaturatingMultiply(a, b); }

inline int64_t DimensionOr(const ir::Type& type, int64_t d, int64_t otherwise) {
  if (d < 0 || static_cast<size_t>(d) >= type.dims.size()) return otherwise;
  const int64_t size = type.dims[static_cast<size_t>(d)];
  return size == ir::kDynamic ? otherwise : size;
}

inline bool IsComplex(const Shapes& s) { return s.inputs() > 0 && s.in(0).element.complex; }

inline constexpr int64_t kRealProducts = 4;  // multiply-adds of real numbers in one of complex numbers

// contraction_cost.cc
int64_t ConvolutionFlops(const Shapes& s);
OpCost ContractionCost(const Shapes& s);

// multi_pass_cost.cc
OpCost ReductionCost(const Shapes& s);
OpCost SortCost(const Shapes& s);
std::optional<OpCost> RadixSortCost(const Shapes& s);  // of a sort or a call that is CUB's
OpCost OtherCost(const Shapes& s);                     // factorisations, triangular solves and Fourier transforms

// custom_call_cost.cc
OpCost CustomCallCost(const Shapes& s);

}  // namespace hespas::estimate
