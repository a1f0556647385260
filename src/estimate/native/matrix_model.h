// Models of single matmuls, in process: systolic arrays by their cycles, and GenZ's operator formula.
//
// - Pure; C[m,n] = sum over k, `batch` times. A convolution is its implicit matmul.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "estimate/calibrated/kernel.h"
#include "estimate/external/op_model.h"
#include "estimate/native/dataflow.h"
#include "hardware/device.h"

namespace hespas::estimate::native {

inline constexpr DiagnosticKind kNoSystolicArray{
    "E0570",
    "A cycle model needs the array of the device: a section `systolic_array` of its file with at least `clock`, and "
    "`rows`, `columns`, `count`, `buffer`, `read_bandwidth`, `write_bandwidth` where they differ from 128 x 128 cells, "
    "one array, 8 MiB and the device's memory bandwidth.",
    Outcome::kUsage};

struct MatmulShape {
  double batch = 1, m = 1, n = 1, k = 1;
  calibrated::Datatype type = calibrated::Datatype::kBf16;
};

// The matmul that a kernel of a table or a program is; nothing for kernels that multiply no matrices.
std::optional<MatmulShape> AsMatmul(const calibrated::KernelSpec& kernel);

struct MatrixCost {
  double seconds = 0;
  double compute_seconds = 0;    // what arithmetic alone would take
  double memory_seconds = 0;     // what the transfers that nothing hides take
  std::optional<double> cycles;  // of cycle models
};

class MatrixModel {
 public:
  virtual ~MatrixModel() = default;
  virtual std::string_view name() const = 0;
  virtual MatrixCost Cost(const MatmulShape& matmul) const = 0;
  virtual std::string Fingerprint() const = 0;  // of everything that costs depend on
};

// "systolic", "scalesim", "genz". Fails where the device lacks what the model needs.
using MadeModel = Result<std::unique_ptr<MatrixModel>>;
MadeModel MakeSystolic(const hardware::Device& device);
MadeModel MakeScaleSim(const hardware::Device& device, Dataflow dataflow);
MadeModel MakeGenz(const hardware::Device& device);

// The model as one of the ops of programs: dots, convolutions as their implicit matmul, and library calls.
std::unique_ptr<OpModel> AsOpModel(std::unique_ptr<MatrixModel> model);

}  // namespace hespas::estimate::native
