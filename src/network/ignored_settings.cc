#include "network/ignored_settings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace hespas::network {

void WarnOfIgnoredSettings(const hardware::System& system, Diagnostics& diagnostics) {
  const hardware::StatedInFile& stated = system.stated;
  if (stated.settings.empty()) return;
  diagnostics.Warning(kIgnoredSettings,
                      fmt::format("the network model does not use {}", fmt::join(stated.settings, ", ")),
                      stated.settings_at, "--network-model plain simulates ASTRA-sim's collectives, which do");
}

}  // namespace hespas::network
