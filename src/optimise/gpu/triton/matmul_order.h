// How the elements of a value run through the dimensions of the matmul that reads or makes it: what a Triton kernel
// can walk in tiles (XLA's TritonFusionAnalysis).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "optimise/dataflow/build.h"

namespace hespas::optimise {

// A run of a matmul's dimension, inside one dimension of the value.
struct OrderPart {
  uint32_t label;  // the matmul's dimension
  int64_t size;
  int64_t stride;  // in steps of the matmul's dimension
};

// By dimension of the value, its parts from major to minor; parts of size 1 are left out.
using MatmulOrder = std::vector<std::vector<OrderPart>>;

// Of an operand or result of the matmul itself: dimension i runs through the matmul's dimension labels[i]; several of
// one label through the larger steps first.
MatmulOrder OrderOf(const Dimensions& dims, const std::vector<uint32_t>& labels);

// The same elements as other dimensions; nothing where those cut across the parts.
std::optional<MatmulOrder> Regroup(const MatmulOrder& order, const Dimensions& dims);

// What an op reads in which order, for its result to come in `order`; an entry for each operand. Concatenations have to
// lie along the dimension `beside`, in pieces of 64. Nothing where the kernel could not read so.
std::optional<std::vector<MatmulOrder>> OrdersOfOperands(const Dataflow& flow, const Node& node,
                                                         const MatmulOrder& order, uint32_t beside);

// The order of what an op with one input of that order and size makes.
std::optional<MatmulOrder> OrderOfResult(const Dataflow& flow, const Node& node, const MatmulOrder& order);

// A dimension that may lie in two places, and the size of its major part once something has fixed that.
struct Divisible {
  std::optional<uint32_t> label;
  int64_t major = 0;
};

// Whether each of the matmul's dimensions lies in one piece, but for the divisible one; notes where that is divided.
bool CanTile(const MatmulOrder& order, Divisible& divisible);

}  // namespace hespas::optimise
