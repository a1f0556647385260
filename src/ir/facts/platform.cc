#include "ir/facts/platform.h"

#include <array>

#include "ir/facts/library_call.h"
#include "ir/walk.h"

namespace hespas::ir {
namespace {

struct Target {
  std::string_view prefix;
  Platform platform;
};

// Of jaxlib 0.7.2: cpu/lapack.cc and gpu/*.cc register their targets under these names, for ROCm with `hip` for `cu`;
// jax/_src/tpu_custom_call.py; XLA's xla/service/gpu/cublas_cudnn.h (its names serve both vendors) and
// xla/service/cpu/onednn_*.h. Linear algebra of TPUs: jax/_src/lax/linalg.py.
constexpr Target kTargets[] = {
    {"tpu_custom_call", Platform::kTpu},
    {"LuDecomposition", Platform::kTpu},
    {"Eigh", Platform::kTpu},
    {"Qr", Platform::kTpu},
    {"ProductOfElementaryHouseholderReflectors", Platform::kTpu},
    {"__cublas$", Platform::kGpu},
    {"__cudnn$", Platform::kGpu},
    {"__cusolver$", Platform::kGpu},
    {"__cub$", Platform::kGpu},
    {"__gpu$", Platform::kGpu},
    {"__triton", Platform::kGpu},
    {"triton_kernel_call", Platform::kGpu},
    {"xla_python_gpu_callback", Platform::kGpu},
    {"xla_ffi_python_gpu_callback", Platform::kGpu},
    {"mosaic_gpu", Platform::kCuda},
    {"cusolver", Platform::kCuda},
    {"cublas", Platform::kCuda},
    {"cusparse", Platform::kCuda},
    {"cufft", Platform::kCuda},
    {"cudnn_", Platform::kCuda},
    {"cu_", Platform::kCuda},
    {"hipsolver", Platform::kRocm},
    {"hipblas", Platform::kRocm},
    {"hipsparse", Platform::kRocm},
    {"hip_", Platform::kRocm},
    {"rocsolver", Platform::kRocm},
    {"rocblas", Platform::kRocm},
    {"lapack_", Platform::kCpu},
    {"blas_", Platform::kCpu},
    {"__onednn$", Platform::kCpu},
    {"xla_python_cpu_callback", Platform::kCpu},
    {"xla_ffi_python_cpu_callback", Platform::kCpu},
};

}  // namespace

std::string_view NameOf(Platform platform) {
  constexpr std::array<std::string_view, 5> kNames = {"CPU", "GPU", "CUDA", "ROCm", "TPU"};
  return kNames[static_cast<size_t>(platform)];
}

std::optional<Platform> PlatformOfTarget(std::string_view target) {
  for (const Target& row : kTargets) {
    const bool whole = row.prefix == "Qr" || row.prefix == "Eigh";
    if (whole ? target == row.prefix : target.starts_with(row.prefix)) return row.platform;
  }
  return std::nullopt;
}

std::optional<Lowered> LoweredFor(const Module& module) {
  std::optional<Lowered> found;
  WalkNested(module, module.root(), [&](OpId op) {
    if (found || module.kind(op) != OpKind::kCustomCall) return;
    const std::string target = CallTarget(module, op);
    if (const auto platform = PlatformOfTarget(target)) {
      found = Lowered{.platform = *platform, .op = op, .evidence = "custom call `" + target + "`"};
    }
  });
  // Only XLA's TPU compiler writes two-dimensional tiles into layouts of HLO (xla/shape_util.h, "{1,0:T(8,128)}").
  constexpr std::string_view kTile = ":T(8,128)";
  const std::string_view head = module.source().substr(0, size_t{1} << 20);
  const bool hlo = head.substr(0, 4096).find("HloModule") != std::string_view::npos;
  if (!found && hlo && head.find(kTile) != std::string_view::npos) {
    found = Lowered{.platform = Platform::kTpu, .op = {}, .evidence = "layouts of tiles, T(8,128)"};
  }
  return found;
}

}  // namespace hespas::ir
