#include "driver/configuration/xla_flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>

#include "base/text/suggest.h"

namespace hespas::driver {
namespace {

struct Threshold {
  std::string_view flag;
  int64_t optimise::XlaFlags::*bytes;
};

constexpr Threshold kThresholds[] = {
    {"--xla_gpu_all_gather_combine_threshold_bytes", &optimise::XlaFlags::all_gather},
    {"--xla_gpu_all_reduce_combine_threshold_bytes", &optimise::XlaFlags::all_reduce},
    {"--xla_gpu_reduce_scatter_combine_threshold_bytes", &optimise::XlaFlags::reduce_scatter},
};

struct Switch {
  std::string_view flag;
  void (*set)(optimise::XlaFlags&, bool);
};

constexpr Switch kSwitches[] = {
    {"--xla_gpu_enable_triton_gemm", [](optimise::XlaFlags& flags, bool on) { flags.triton_matmuls = on; }},
    {"--xla_gpu_enable_latency_hiding_scheduler",
     [](optimise::XlaFlags& flags, bool on) { flags.latency_hiding = on; }},
    {"--xla_gpu_enable_pipelined_all_gather",
     [](optimise::XlaFlags& flags, bool on) { flags.pipelined_all_gather = on; }},
    {"--xla_gpu_enable_pipelined_reduce_scatter",
     [](optimise::XlaFlags& flags, bool on) { flags.pipelined_reduce_scatter = on; }},
    {"--xla_gpu_enable_pipelined_all_reduce",
     [](optimise::XlaFlags& flags, bool on) { flags.pipelined_all_reduce = on; }},
};

constexpr std::string_view kAutotuneLevel = "--xla_gpu_autotune_level";

Status TakeBytes(std::string_view flag, std::string_view value, int64_t& bytes) {
  const char* end = value.data() + value.size();
  const auto [stop, failed] = std::from_chars(value.data(), end, bytes);
  if (failed == std::errc() && stop == end && bytes >= 0) return {};
  return MakeError(kXlaFlag, fmt::format("--xla-flag: `{}` has no number of bytes", flag), {},
                   fmt::format("write {}=31457280", flag.substr(0, flag.find('='))));
}

Status TakeSwitch(std::string_view flag, std::string_view value, const Switch& known, optimise::XlaFlags& flags) {
  const bool on = value == "true" || value == "1";
  if (on || value == "false" || value == "0") {
    known.set(flags, on);
    return {};
  }
  return MakeError(kXlaFlag, fmt::format("--xla-flag: `{}` is neither true nor false", flag), {},
                   fmt::format("write {}=true", flag.substr(0, flag.find('='))));
}

Status Take(std::string_view flag, optimise::XlaFlags& flags) {
  const std::string_view name = flag.substr(0, flag.find('='));
  const std::string_view value = flag.substr(std::min(flag.size(), name.size() + 1));
  std::vector<std::string> known;
  for (const Switch& known_switch : kSwitches) {
    if (known_switch.flag == name) return TakeSwitch(flag, value, known_switch, flags);
    known.emplace_back(known_switch.flag);
  }
  for (const Threshold& threshold : kThresholds) {
    if (threshold.flag == name) return TakeBytes(flag, value, flags.*threshold.bytes);
    known.emplace_back(threshold.flag);
  }
  if (name == kAutotuneLevel && value.size() == 1 && value[0] >= '0' && value[0] <= '4') {
    flags.autotuning = value != "0";
    return {};
  }
  known.emplace_back(kAutotuneLevel);
  return MakeError(kXlaFlag, fmt::format("--xla-flag: the built-in passes do not follow `{}`", flag), {},
                   DidYouMean(name, known, "--optimise xla runs XLA's own compiler with it"));
}

}  // namespace

std::optional<optimise::XlaFlags> XlaFlagsOf(const std::vector<std::string>& flags, Diagnostics& diagnostics) {
  optimise::XlaFlags followed;
  bool all = true;
  for (const std::string& flag : flags) {
    if (const Status taken = Take(flag, followed); !taken) {
      diagnostics.Report(taken.error());
      all = false;
    }
  }
  return all ? std::optional(followed) : std::nullopt;
}

}  // namespace hespas::driver
