// How precisely a program asks for a matmul or convolution: operand precision and dot algorithm, wherever they stand
// (`precision_config`, `algorithm`, or a cuBLAS call's `gemm_backend_config`).
//
// - Where both are given, the algorithm counts, as in XLA.
#pragma once

#include <cstdint>
#include <string_view>

#include "ir/module.h"

namespace hespas::ir {

enum class OperandPrecision : uint8_t { kDefault, kHigh, kHighest };

// The type that an algorithm multiplies; kUnset where the program names none.
enum class AlgorithmType : uint8_t { kUnset, kF64, kF32, kTf32, kBf16, kF16, kF8 };

struct MatmulPrecision {
  OperandPrecision operands = OperandPrecision::kDefault;  // the higher of both operands'
  AlgorithmType algorithm = AlgorithmType::kUnset;
  uint8_t passes = 1;  // of the algorithm: 3 for dot_bf16_bf16_f32_x3
  bool operator==(const MatmulPrecision&) const = default;
};

MatmulPrecision MatmulPrecisionOf(const Module& module, OpId op);

// `dot_bf16_bf16_f32_x3`, `ALG_DOT_BF16_BF16_F32_X3` or `#stablehlo.dot_algorithm<lhs_precision_type = bf16, ...>`.
MatmulPrecision AsDotAlgorithm(std::string_view text);

}  // namespace hespas::ir
