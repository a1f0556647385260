// What the drivers of one-call simulators share: the operation as their layer, the program, equal calls made once.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "base/result.h"
#include "estimate/external/onnx_model.h"
#include "ir/module.h"

namespace hespas::estimate {

inline constexpr DiagnosticKind kSimulatorFailed{
    "E0575", "An external simulator crashed, took too long, or printed something else than a result.",
    Outcome::kToolFailed};

// Either a matmul, `batch` times, or a convolution.
struct Layer {
  int64_t batch = 1, m = 0, n = 0, k = 0;
  std::optional<OnnxConvolution> convolution;
};

// Nothing for ops that are no matmuls, and for convolutions with dilated inputs or batch groups.
std::optional<Layer> LayerOf(const ir::Module& module, ir::OpId op);

// Two equal spatial extents, kernels, strides and paddings; one group; no dilation.
bool IsSquare(const OnnxConvolution& convolution);

// The program at `path`, or `name` in PATH, as an absolute path.
Result<std::string> FindTool(const std::string& path, const std::string& name);

// The last `most` characters of what a program printed, on one line.
std::string Tail(const std::string& output, size_t most = 200);

// Answers by call, each made once.
class OnceEach {
 public:
  Result<double> Get(const std::string& call, const std::function<Result<double>()>& make);

 private:
  std::mutex mutex_;
  std::map<std::string, Result<double>> answers_;
};

}  // namespace hespas::estimate
