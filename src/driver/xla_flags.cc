#include "driver/xla_flags.h"

#include <fmt/format.h>

#include <charconv>
#include <string_view>

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

}  // namespace

Result<optimise::CombineLimits> CombineLimitsOf(const std::vector<std::string>& flags) {
  optimise::CombineLimits limits;
  for (const std::string& flag : flags) {
    const std::string_view name = std::string_view(flag).substr(0, flag.find('='));
    int64_t* bytes = nullptr;
    for (const Threshold& threshold : kThresholds) {
      if (threshold.flag == name) bytes = &(limits.*threshold.bytes);
    }
    if (bytes == nullptr) {
      return MakeError(kXlaFlag, fmt::format("--xla-flag: the built-in passes do not follow `{}`", flag), {},
                       "--optimise xla runs XLA's own compiler with it");
    }
    const char* end = flag.data() + flag.size();
    const auto [stop, failed] = std::from_chars(flag.data() + std::min(flag.size(), name.size() + 1), end, *bytes);
    if (failed != std::errc() || stop != end || *bytes < 0) {
      return MakeError(kXlaFlag, fmt::format("--xla-flag: `{}` has no number of bytes", flag), {},
                       fmt::format("write {}=31457280", name));
    }
  }
  return limits;
}

}  // namespace hespas::driver
