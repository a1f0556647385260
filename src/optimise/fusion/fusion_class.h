// What an op is to fusion, and how much work it does.
#pragma once

#include <cstdint>

#include "ir/op_kind.h"
#include "optimise/dataflow/dataflow.h"

namespace hespas::optimise {

class CompilerPolicy;

// clang-format off
enum class FusionClass : uint8_t {
  kUnfusible,  // dots, collectives, control flow, ...: reads and writes memory, fuses with nothing
  kBitcast,    // reshape: no work
  kCheap,      // constants, iota, broadcast scalars: always computed in place
  kElement,    // one result element from a few input elements
  kReduce,     // reductions and scatters: take producers in, end a kernel
};
// clang-format on

FusionClass ClassOf(const Dataflow& flow, const Node& node, const CompilerPolicy& policy);

// Whether a constant, or what makes one, is created in each kernel that uses it: not a table in memory.
bool IsInlineConstant(const Dataflow& flow, const Node& node);

// Scalar instructions per result element (the column `fusion` of ir/facts/op_weights.h).
double InstructionWeight(ir::OpKind kind);

bool IsBroadcast(const Node& node);
bool IsContraction(const Node& node);

// A convert to a wider type.
bool Widens(const Dataflow& flow, const Node& node);

// Result elements of an elementwise root, input elements of a reduction.
int64_t WorkElements(const Dataflow& flow, NodeId id);

// Whether a reduction goes along rows; over columns it walks memory another way than everything else.
bool ReducesRows(const Dataflow& flow, const Node& node);

}  // namespace hespas::optimise
