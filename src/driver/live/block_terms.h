// Terms of the distinct blocks, and of the device that they scale with, as JSON for the live report.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "driver/stages/estimate.h"

namespace hespas::driver {

// Figures of the device, and of the program's launches, that the terms scale with.
nlohmann::json MachineTerms(const OptimiseOptions& options, const Prepared& prepared);

// For each distinct block its kernels; null where it holds calls or loops: then its time stays.
nlohmann::json BlockTerms(const Prepared& prepared, const Estimated& estimated);

}  // namespace hespas::driver
