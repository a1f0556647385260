// Results of the program that lie in buffers of its parameters, and kernels that write over what they read.
#pragma once

#include <cstdint>
#include <vector>

#include "optimise/dataflow/dataflow.h"

namespace hespas::optimise {

constexpr int64_t kKept = -1;       // the caller keeps the parameter
constexpr int64_t kAnyResult = -2;  // any result may take its buffer

// Its result lies in its operand's buffer.
inline bool IsView(ir::OpKind kind) { return kind == ir::OpKind::kReshape || kind == ir::OpKind::kBitcast; }

// By parameter of the program: the result that takes its buffer over.
std::vector<int64_t> TakenOver(const ir::Module& module, size_t parameters);

// Whether the kernel may write its result over the operand (XLA's FusionCanShareBufferHint): on every way from there it
// reads each element where it writes it, or reduces first.
bool SharesBuffer(const Dataflow& flow, const Node& kernel, size_t operand, size_t result);

// Whether a fusion stores copies of its results itself (XLA's CopyFusion).
bool FusesCopies(const Node& fusion);

// Copies parameters, or results, where a parameter may still be read when the result that takes its buffer is made.
void CopyDonated(Dataflow& flow);

// Drops the copies that this order of the ops makes superfluous, and adds those of kernels that now store copies.
void CopyInOrder(Dataflow& flow, const std::vector<NodeId>& order);

}  // namespace hespas::optimise
