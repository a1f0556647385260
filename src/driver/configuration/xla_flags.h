// Flags of XLA's GPU compiler that the passes and the time model which are built in follow.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostic.h"
#include "optimise/optimise.h"

namespace hespas::driver {

inline constexpr DiagnosticKind kXlaFlag{
    "E0919",
    "A flag of XLA that the built-in passes do not follow, or a flag with a bad value. They know "
    "--xla_gpu_all_gather_combine_threshold_bytes=N and the same for all_reduce and reduce_scatter, "
    "--xla_gpu_enable_triton_gemm=true, --xla_gpu_autotune_level=0 to 4, "
    "--xla_gpu_enable_triton_softmax_fusion=false, --xla_gpu_enable_command_buffer= (none) or "
    "--xla_gpu_graph_level=0, "
    "--xla_gpu_disable_async_collectives=allgather,..., "
    "--xla_gpu_enable_latency_hiding_scheduler=false, --xla_gpu_enable_analytical_sol_latency_estimator=false and "
    "--xla_gpu_enable_pipelined_all_gather=true and the same for all_reduce and reduce_scatter, and on TPUs "
    "--xla_jf_spmd_threshold_for_windowed_einsum_mib=N and "
    "--xla_tpu_enable_sparse_core_collective_offload_all_reduce=true and the same for reduce_scatter; they take no "
    "flags where they do not run or not for a GPU or a TPU. --optimise xla passes every flag to XLA's own compiler.",
    Outcome::kUsage};

// From flags as XLA writes them ("--xla_gpu_all_gather_combine_threshold_bytes=31457280"); reports every one that is
// not followed.
std::optional<optimise::XlaFlags> XlaFlagsOf(const std::vector<std::string>& flags, bool tpu, Diagnostics& diagnostics);

// Whether XLA launches no kernel in a CUDA graph under this flag. Changes launches alone, no kernels.
bool SwitchesGraphsOff(std::string_view flag);

}  // namespace hespas::driver
