#include "driver/configuration/xla_flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <span>
#include <string_view>

#include "base/text/lower.h"
#include "base/text/suggest.h"

namespace hespas::driver {
namespace {

struct Threshold {
  std::string_view flag;
  int64_t optimise::XlaFlags::*bytes;
  int64_t unit = 1;  // bytes
};

constexpr Threshold kThresholds[] = {
    {"--xla_gpu_all_gather_combine_threshold_bytes", &optimise::XlaFlags::all_gather},
    {"--xla_gpu_all_reduce_combine_threshold_bytes", &optimise::XlaFlags::all_reduce},
    {"--xla_gpu_reduce_scatter_combine_threshold_bytes", &optimise::XlaFlags::reduce_scatter},
};
constexpr Threshold kTpuThresholds[] = {
    {"--xla_jf_spmd_threshold_for_windowed_einsum_mib", &optimise::XlaFlags::windowed_einsum, int64_t{1} << 20},
};

struct Switch {
  std::string_view flag;
  void (*set)(optimise::XlaFlags&, bool);
};

constexpr Switch kSwitches[] = {
    {"--xla_gpu_enable_triton_gemm", [](optimise::XlaFlags& flags, bool on) { flags.triton_matmuls = on; }},
    {"--xla_gpu_enable_triton_softmax_fusion", [](optimise::XlaFlags& flags, bool on) { flags.triton_rows = on; }},
    {"--xla_gpu_enable_latency_hiding_scheduler",
     [](optimise::XlaFlags& flags, bool on) { flags.latency_hiding = on; }},
    {"--xla_gpu_enable_analytical_sol_latency_estimator",
     [](optimise::XlaFlags& flags, bool on) { flags.plans_by_model = on; }},
    {"--xla_gpu_enable_pipelined_all_gather",
     [](optimise::XlaFlags& flags, bool on) { flags.pipelined_all_gather = on; }},
    {"--xla_gpu_enable_pipelined_reduce_scatter",
     [](optimise::XlaFlags& flags, bool on) { flags.pipelined_reduce_scatter = on; }},
    {"--xla_gpu_enable_pipelined_all_reduce",
     [](optimise::XlaFlags& flags, bool on) { flags.pipelined_all_reduce = on; }},
};

constexpr Switch kTpuSwitches[] = {
    {"--xla_tpu_enable_sparse_core_collective_offload_all_reduce",
     [](optimise::XlaFlags& flags, bool on) { flags.sparse_core_all_reduce = on; }},
    {"--xla_tpu_enable_sparse_core_collective_offload_reduce_scatter",
     [](optimise::XlaFlags& flags, bool on) { flags.sparse_core_reduce_scatter = on; }},
};

struct AsyncName {
  std::string_view name;
  ir::OpKind kind;
};
// XLA's DebugOptions.CollectiveOpType (xla.proto), whose case XLA does not mind; "allcollectives" are all of them.
constexpr AsyncName kAsyncNames[] = {{"allreduce", ir::OpKind::kAllReduce},
                                     {"allgather", ir::OpKind::kAllGather},
                                     {"reducescatter", ir::OpKind::kReduceScatter},
                                     {"collectivebroadcast", ir::OpKind::kCollectiveBroadcast},
                                     {"alltoall", ir::OpKind::kAllToAll},
                                     {"collectivepermute", ir::OpKind::kCollectivePermute},
                                     {"raggedalltoall", ir::OpKind::kRaggedAllToAll}};
constexpr std::string_view kDisableAsync = "--xla_gpu_disable_async_collectives";

constexpr std::string_view kAutotuneLevel = "--xla_gpu_autotune_level";

// Each with the value that leaves no command in CUDA graphs; the first of these is the newer name.
struct WithoutGraphs {
  std::string_view flag;
  std::string_view value;
};
constexpr WithoutGraphs kWithoutGraphs[] = {{"--xla_gpu_enable_command_buffer", ""}, {"--xla_gpu_graph_level", "0"}};

std::string_view NameOf(std::string_view flag) { return flag.substr(0, flag.find('=')); }
std::string_view ValueOf(std::string_view flag) { return flag.substr(std::min(flag.size(), NameOf(flag).size() + 1)); }

Status TakeBytes(std::string_view flag, std::string_view value, const Threshold& known, optimise::XlaFlags& flags) {
  const char* end = value.data() + value.size();
  int64_t number = 0;
  const auto [stop, failed] = std::from_chars(value.data(), end, number);
  const int64_t most = std::numeric_limits<int64_t>::max() / known.unit;
  if (failed == std::errc() && stop == end && number >= 0) {
    flags.*known.bytes = std::min(number, most) * known.unit;
    return {};
  }
  return MakeError(kXlaFlag,
                   fmt::format("--xla-flag: `{}` has no number of {}", flag, known.unit == 1 ? "bytes" : "MiB"), {},
                   fmt::format("write {}={}", known.flag, known.unit == 1 ? 31457280 : 256));
}

// Nothing where no threshold has that name, which `known` gets instead.
std::optional<Status> TakeThreshold(std::string_view flag, std::string_view name, std::string_view value,
                                    std::span<const Threshold> thresholds, optimise::XlaFlags& flags,
                                    std::vector<std::string>& known) {
  for (const Threshold& threshold : thresholds) {
    if (threshold.flag == name) return TakeBytes(flag, value, threshold, flags);
    known.emplace_back(threshold.flag);
  }
  return std::nullopt;
}

Status TakeSwitch(std::string_view flag, std::string_view value, const Switch& known, optimise::XlaFlags& flags) {
  const bool on = value == "true" || value == "1";
  if (on || value == "false" || value == "0") {
    known.set(flags, on);
    return {};
  }
  return MakeError(kXlaFlag, fmt::format("--xla-flag: `{}` is neither true nor false", flag), {},
                   fmt::format("write {}=true", NameOf(flag)));
}

Status TakeWithoutGraphs(std::string_view flag, const WithoutGraphs& known) {
  if (SwitchesGraphsOff(flag)) return {};
  return MakeError(kXlaFlag, fmt::format("--xla-flag: `{}` is not followed, only no command buffers at all", flag), {},
                   fmt::format("write {}={}", known.flag, known.value));
}

Status TakeSynchronous(std::string_view flag, std::string_view value, optimise::XlaFlags& flags) {
  const std::string help = fmt::format("write {}=allgather,allreduce,reducescatter", kDisableAsync);
  if (NameOf(flag) == flag) return MakeError(kXlaFlag, fmt::format("--xla-flag: `{}` has no value", flag), {}, help);
  while (!value.empty()) {
    const std::string_view name = value.substr(0, value.find(','));
    value.remove_prefix(std::min(value.size(), name.size() + 1));
    const std::string lower = Lower(name);
    const size_t before = flags.synchronous.size();
    for (const AsyncName& known : kAsyncNames) {
      if (known.name == lower || lower == "allcollectives") flags.synchronous.push_back(known.kind);
    }
    if (flags.synchronous.size() > before) continue;
    return MakeError(kXlaFlag, fmt::format("--xla-flag: `{}` names no collectives by `{}`", flag, name), {}, help);
  }
  return {};
}

Status NotFollowed(std::string_view flag, std::string_view name, const std::vector<std::string>& known) {
  return MakeError(kXlaFlag, fmt::format("--xla-flag: the built-in passes do not follow `{}`", flag), {},
                   DidYouMean(std::string(name), known, "--optimise xla runs XLA's own compiler with it"));
}

Status Take(std::string_view flag, bool tpu, optimise::XlaFlags& flags) {
  const std::string_view name = NameOf(flag);
  const std::string_view value = ValueOf(flag);
  std::vector<std::string> known;
  for (const Switch& known_switch : tpu ? std::span<const Switch>(kTpuSwitches) : kSwitches) {
    if (known_switch.flag == name) return TakeSwitch(flag, value, known_switch, flags);
    known.emplace_back(known_switch.flag);
  }
  if (tpu)
    return TakeThreshold(flag, name, value, kTpuThresholds, flags, known).value_or(NotFollowed(flag, name, known));
  if (const auto taken = TakeThreshold(flag, name, value, kThresholds, flags, known)) return *taken;
  if (name == kAutotuneLevel && value.size() == 1 && value[0] >= '0' && value[0] <= '4') {
    flags.autotuning = value != "0";
    return {};
  }
  if (name == kDisableAsync) return TakeSynchronous(flag, value, flags);
  known.emplace_back(kDisableAsync);
  known.emplace_back(kAutotuneLevel);
  for (const WithoutGraphs& without : kWithoutGraphs) {
    if (without.flag == name) return TakeWithoutGraphs(flag, without);
    known.emplace_back(without.flag);
  }
  return NotFollowed(flag, name, known);
}

}  // namespace

bool SwitchesGraphsOff(std::string_view flag) {
  return std::any_of(std::begin(kWithoutGraphs), std::end(kWithoutGraphs), [&](const WithoutGraphs& without) {
    return flag.size() > without.flag.size() && NameOf(flag) == without.flag && ValueOf(flag) == without.value;
  });
}

std::optional<optimise::XlaFlags> XlaFlagsOf(const std::vector<std::string>& flags, bool tpu,
                                             Diagnostics& diagnostics) {
  optimise::XlaFlags followed;
  bool all = true;
  for (const std::string& flag : flags) {
    if (const Status taken = Take(flag, tpu, followed); !taken) {
      diagnostics.Report(taken.error());
      all = false;
    }
  }
  return all ? std::optional(followed) : std::nullopt;
}

}  // namespace hespas::driver
