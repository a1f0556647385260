// ONNX models of one node, as the architectural simulators read them: one input, one initialiser without data, one
// output.
//
// - Shapes come permuted (batch, M, K and K, N; NCHW and OIHW), so no Transpose stands in the graph.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace hespas::estimate {

using Shape = std::vector<int64_t>;

struct OnnxConvolution {
  Shape input, kernel, output;                    // NCHW, OIHW, NCHW, any number of spatial dimensions
  std::vector<int64_t> strides, pads, dilations;  // pads: all low ones, then all high ones
  int64_t groups = 1;
};

// Serialised ModelProtos (IR version 8, operator set 13, single precision).
std::string OnnxMatMul(const Shape& lhs, const Shape& rhs, const Shape& result);
std::string OnnxConv(const OnnxConvolution& convolution);

}  // namespace hespas::estimate
