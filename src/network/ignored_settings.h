// Settings of a system file that the calibrated model of collectives does not use: they steer ASTRA-sim's.
#pragma once

#include "base/diagnostic.h"
#include "hardware/system.h"

namespace hespas::network {

inline constexpr DiagnosticKind kIgnoredSettings{
    "W0908",
    "The system file has settings that steer ASTRA-sim's collectives. The calibrated network model does not use them; "
    "--network-model plain does."};

// One warning that names all that the description states.
void WarnOfIgnoredSettings(const hardware::System& system, Diagnostics& diagnostics);

}  // namespace hespas::network
