#include "network/concurrency.h"

#include <fmt/format.h>

#include <cmath>

namespace hespas::network {

Result<double> Concurrency::UnitsLeft(const hardware::Device& device) const {
  if (!(memory_passes >= 0) || !std::isfinite(memory_passes))
    return MakeError(kBadConcurrency, fmt::format("--collective-memory {} is no number of passes", memory_passes), {},
                     "2: each byte is read where it is sent, and written where it arrives");
  if (sms == 0) return 1.0;
  const double all = static_cast<double>(device.sm_count.value_or(0));
  const auto taken = static_cast<double>(sms);
  if (sms > 0 && taken < all) return 1 - taken / all;
  return MakeError(kBadConcurrency,
                   fmt::format("--collective-sms {}: {} has {} multiprocessors", sms, device.name, all), {},
                   "1 for each of NCCL's channels, as 16");
}

}  // namespace hespas::network
