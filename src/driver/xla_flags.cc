#include "driver/xla_flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>

#include "base/suggest.h"

namespace hespas::driver {
namespace {

struct Threshold {
  std::string_view flag;
  int64_t optimise::CombineLimits::*bytes;
};

constexpr Threshold kThresholds[] = {
    {"--xla_gpu_all_gather_combine_threshold_bytes", &optimise::CombineLimits::all_gather},
    {"--xla_gpu_all_reduce_combine_threshold_bytes", &optimise::CombineLimits::all_reduce},
    {"--xla_gpu_reduce_scatter_combine_threshold_bytes", &optimise::CombineLimits::reduce_scatter},
};

Status Take(std::string_view flag, optimise::CombineLimits& limits) {
  const std::string_view name = flag.substr(0, flag.find('='));
  std::vector<std::string> known;
  for (const Threshold& threshold : kThresholds) {
    known.emplace_back(threshold.flag);
    if (threshold.flag != name) continue;
    int64_t& bytes = limits.*threshold.bytes;
    const char* end = flag.data() + flag.size();
    const auto [stop, failed] = std::from_chars(flag.data() + std::min(flag.size(), name.size() + 1), end, bytes);
    if (failed == std::errc() && stop == end && bytes >= 0) return {};
    return MakeError(kXlaFlag, fmt::format("--xla-flag: `{}` has no number of bytes", flag), {},
                     fmt::format("write {}=31457280", name));
  }
  return MakeError(kXlaFlag, fmt::format("--xla-flag: the built-in passes do not follow `{}`", flag), {},
                   DidYouMean(name, known, "--optimise xla runs XLA's own compiler with it"));
}

}  // namespace

std::optional<optimise::CombineLimits> CombineLimitsOf(const std::vector<std::string>& flags,
                                                       Diagnostics& diagnostics) {
  optimise::CombineLimits limits;
  bool all = true;
  for (const std::string& flag : flags) {
    if (const Status taken = Take(flag, limits); !taken) {
      diagnostics.Report(taken.error());
      all = false;
    }
  }
  return all ? std::optional(limits) : std::nullopt;
}

}  // namespace hespas::driver
