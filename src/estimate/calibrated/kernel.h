// One kernel as the calibrated model sees it, and the table of operations it knows.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "estimate/calibrated/parameters.h"
#include "graph/estimate.h"

namespace hespas::estimate::calibrated {

// Types by the rate they run at; storage is `bits` wide.
enum class Datatype : uint8_t { kF64, kF32, kTf32, kF16, kBf16, kF8, kF4, kI8, kI16, kI32, kI64, kI1 };
inline constexpr size_t kDatatypes = 12;

struct DatatypeEntry {
  std::string_view name;  // as in StableHLO
  Datatype type;
  double bytes;
};

const DatatypeEntry& Entry(Datatype type);
// By any spelling of StableHLO, XLA, NumPy and PyTorch ("f8E4M3FN", "f8e4m3fn", "ui8", "s8", "float16"); nothing for
// others.
std::optional<Datatype> ParseDatatype(std::string_view name);

// How a family's time follows from the kernel's numbers.
enum class Shape : uint8_t { kGemm, kLinear, kBatchedGemm, kConvolution, kElementwise, kSoftmax, kNorm, kTraffic };

// Of all lanes, by the units of an SM that run them.
struct Instructions {
  double lanes = 0;
  double special = 0;     // reciprocals, exponentials
  bool streamed = false;  // of a kernel whose threads follow memory: a loop, or reductions along rows
};
inline Instructions operator*(const Instructions& each, double count) {
  return {.lanes = each.lanes * count, .special = each.special * count, .streamed = each.streamed};
}
inline Instructions operator+(const Instructions& a, const Instructions& b) {
  return {.lanes = a.lanes + b.lanes, .special = a.special + b.special, .streamed = a.streamed && b.streamed};
}

struct Operation {
  std::string_view name;   // of the measured kernels ("addu")
  std::string_view alias;  // long form ("add_scalar")
  Shape shape;
  double arrays = 0;         // read and written once, of b x n elements each
  Instructions weight = {};  // of an element
};

// By name or long form, in any case ("layer_norm", "LayerNorm"); nothing for an operation without a rule.
const Operation* FindOperation(std::string_view name);

struct KernelSpec {
  Shape shape = Shape::kTraffic;
  Datatype type = Datatype::kF32;
  double b = 1, m = 0, n = 0, k = 0;  // matmuls: C[m,n] = sum over k, b times; rows: b rows of n elements
  double input_channels = 0, output_channels = 0, kernel_size = 0, extent = 0, stride = 1, padding = 0;
  double bytes = 0;                // other kernels, and rows where 0 means arrays * b * n elements; of a grouped
                                   // convolution those of its arrays, which are fewer than its matmul's
  Instructions instructions = {};  // of kTraffic
  double result_bytes = 0;         // of one element of a matmul's result; 0: as `type` writes it (fp8 writes bf16)
  double operand_bytes = 0;        // of one element of a matmul's operands, on average; 0: as wide as `type`
  double passes = 1;               // of the matrix units for one matmul of the program's type
  double real_matmuls = 1;         // of a complex matmul
  double arrays = 2;               // rows and elementwise
  Instructions weight = {};        // rows and elementwise: of an element
  double dispatch_us = 0;          // floor of one eager call on the measuring host
};

Family FamilyOf(const KernelSpec& kernel);

// A kernel's time and what it is made of; competing parts are combined softly, so they sum to more than `us`.
struct KernelTime {
  double us = 0;
  double sigma_us = 0;
  double launch_us = 0;
  double compute_us = 0;
  double l2_us = 0;
  double memory_us = 0;
  double store_us = 0;  // results of each wave of tiles, exposed
  double flops = 0;
  double bytes = 0;
  double datasheet_us = 0;  // at the datasheet's rate and bandwidth, nothing else
  graph::Bound bound = graph::Bound::kNone;
};

graph::Estimate ToEstimate(const KernelTime& time);

}  // namespace hespas::estimate::calibrated
