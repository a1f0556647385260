#include "report/step/kernel_kind.h"

#include <algorithm>
#include <string>

#include "base/text/lower.h"

namespace hespas::report {
namespace {

struct Pattern {
  std::string_view part;  // in lower case
  std::string_view kind;
};

// Names of JAX's primitives, as they end a framework name.
constexpr Pattern kPrimitives[] = {
    {"dot_general", "matmul"},
    {"conv_general_dilated", "convolution"},
    {"psum_scatter", "reduce_scatter"},
    {"psum", "all_reduce"},
    {"all_gather", "all_gather"},
    {"reduce_scatter", "reduce_scatter"},
    {"all_to_all", "all_to_all"},
    {"ppermute", "collective_permute"},
    {"scatter", "scatter"},
    {"gather", "gather"},
    {"sort", "sort"},
    {"reduce_", "reduction"},
    {"cumsum", "reduction"},
    {"argmax", "reduction"},
    {"random_bits", "random numbers"},
    {"transpose", "data movement"},
    {"reshape", "data movement"},
    {"concatenate", "data movement"},
};

// Parts of names of instructions and kernels, the telling ones first.
constexpr Pattern kKernels[] = {
    {"reducescatter", "reduce_scatter"},
    {"reduce-scatter", "reduce_scatter"},
    {"allreduce", "all_reduce"},
    {"all-reduce", "all_reduce"},
    {"allgather", "all_gather"},
    {"all-gather", "all_gather"},
    {"alltoall", "all_to_all"},
    {"all-to-all", "all_to_all"},
    {"sendrecv", "collective_permute"},
    {"collective-permute", "collective_permute"},
    {"kernel_broadcast", "broadcast"},
    {"nccl", "all_reduce"},
    {"flash", "attention"},
    {"fmha", "attention"},
    {"attention", "attention"},
    {"dgrad", "convolution"},
    {"wgrad", "convolution"},
    {"fprop", "convolution"},
    {"convolution", "convolution"},
    {"conv2d", "convolution"},
    {"cudnn-conv", "convolution"},
    {"gemm", "matmul"},
    {"gemv", "matmul"},
    {"cutlass", "matmul"},
    {"cublas", "matmul"},
    {"wgmma", "matmul"},
    {"cijk_", "matmul"},
    {"matmul", "matmul"},
    {"dot", "matmul"},
    {"memcpy", "data movement"},
    {"memset", "data movement"},
    {"copy", "data movement"},
    {"transpose", "data movement"},
    {"concatenate", "data movement"},
    {"cat_array", "data movement"},
    {"catarray", "data movement"},
    {"scatter", "scatter"},
    {"gather", "gather"},
    {"index", "gather"},
    {"sort", "sort"},
    {"rng", "random numbers"},
    {"random", "random numbers"},
    {"distribution", "random numbers"},
    {"softmax", "reduction"},
    {"norm", "reduction"},
    {"reduce", "reduction"},
};

template <size_t n>
std::string_view Find(const Pattern (&patterns)[n], std::string_view text) {
  const std::string low = Lower(text);
  for (const Pattern& pattern : patterns) {
    if (low.find(pattern.part) != std::string::npos) return pattern.kind;
  }
  return {};
}

}  // namespace

std::string_view KindOfKernel(std::string_view name, std::string_view framework) {
  const std::string_view primitive = framework.substr(framework.rfind('/') + 1);
  if (const std::string_view kind = Find(kPrimitives, primitive); !kind.empty()) return kind;
  if (const std::string_view kind = Find(kKernels, name); !kind.empty()) return kind;
  return "elementwise";
}

}  // namespace hespas::report
