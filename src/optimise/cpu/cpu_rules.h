// Which ops XLA's CPU compiler puts into one loop, and which it rather stores (its InstructionFusion).
#pragma once

#include "optimise/dataflow/dataflow.h"

namespace hespas::optimise {

// Whether the op can be computed element by element inside a loop over its consumer's elements.
bool IsLoopOp(const Node& node);

// The same, or an op that ends a loop: a reduction of several values at once.
bool IsLoopRoot(const Node& node);

// Whether `consumer` writes over what the op reads at other places: the op runs before.
bool IsOverwritten(const Node& node, const Node& consumer);

// Ops of which an element takes long: computed once, or not at all inside another loop.
bool IsExpensive(const Dataflow& flow, const Node& node);

// Whether the op reads some elements of the operand again and again.
bool ReusesElements(const Dataflow& flow, const Node& node, size_t operand);

// Whether the op computes other places of the operand than those that it is asked for.
bool ChangesIndex(const Dataflow& flow, const Node& node, size_t operand);

// A reduction that leaves the innermost dimension has a loop of its own.
bool IsOuterReduction(const Dataflow& flow, const Node& node);

// At most one operand is as large as the result: computing it again reads no more than the result would.
bool ReadsOneArray(const Dataflow& flow, const Node& node);

}  // namespace hespas::optimise
