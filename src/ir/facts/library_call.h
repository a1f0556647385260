// What a custom_call computes that is a call of a GPU library (cuBLAS and cuDNN, from their target, operand types and
// `backend_config`) or of an operation, whether HLO text, MLIR text or bytecode brought it.
//
// - A GEMM is C[batch, m, n] = sum over k; a convolution is given as the implicit GEMM of its multiply-adds.
// - Results behind the first one are workspaces or statistics: they cost memory, not bandwidth.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "ir/module.h"

namespace hespas::ir {

enum class LibraryKind : uint8_t {
  kGemm,         // __cublas$gemm, __cublas$lt$matmul, ...$f8
  kConvolution,  // __cudnn$conv*
  kAttention,    // __cudnn$fmha*: flops are not decoded
  kNorm,         // __cudnn$norm
  kTriton,       // __gpu$xla.gpu.triton and the like
  kOther,        // further __cublas$, __cudnn$, __cusolver$, __cub$ targets
};

struct LibraryCall {
  LibraryKind kind = LibraryKind::kOther;
  int64_t batch = 1;
  int64_t m = 0;  // 0 where not decoded
  int64_t n = 0;
  int64_t k = 0;
  std::string epilogue;      // "DEFAULT", "BIAS", "BIAS_RELU", "GELU", ...
  bool accumulates = false;  // beta != 0: an operand of the result's shape is added

  // Multiply-adds counted twice, saturating; 0 where not decoded.
  int64_t flops() const;
};

// JAX's ragged all-to-all is a call before XLA lowers it; `target` is that of a custom_call, if there is one.
inline bool IsRaggedAllToAll(const std::string_view* target) {
  return target != nullptr && target->find("ragged_all_to_all") != std::string_view::npos;
}

// Nothing where `op` is no custom_call or calls none of these libraries.
std::optional<LibraryKind> LibraryKindOf(const Module& module, OpId op);
std::optional<LibraryCall> LibraryCallOf(const Module& module, OpId op);

// What a custom_call's target spells; empty where `op` is none.
std::string CallTarget(const Module& module, OpId op);

// The operation of CHLO that a custom_call represents: "chlo.erf" for a call of "mhlo.erf", as portable artifacts hold
// what StableHLO lacks. Empty where the target is no such operation.
std::string CalledOperation(const Module& module, OpId op);

}  // namespace hespas::ir
