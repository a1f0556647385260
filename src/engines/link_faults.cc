#include "engines/link_faults.h"

namespace hespas::engines {

Result<std::optional<hardware::LinkGraph>> GraphOf(const hardware::LinkTexts& links, const hardware::System& system) {
  if (links.empty()) return std::optional<hardware::LinkGraph>();
  const auto faults = hardware::ParseLinkFaults(links, system);
  if (!faults) return faults.error();
  return std::optional(hardware::LinkGraphWith(*faults, system));
}

Error NoFaultsHere() {
  return MakeError(hardware::kBadLinkFault, "this network engine does not know single links", {},
                   "use --network-model calibrated, or --network-backend analytical-aware or simgrid");
}

}  // namespace hespas::engines
