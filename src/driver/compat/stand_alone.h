// hespas_<name>_estimator: one program, estimated as a whole, without splitting.
#pragma once

#include <string>

#include "base/result.h"
#include "driver/compat/configuration.h"
#include "driver/compat/log.h"

namespace hespas::driver::compat {

struct StandAloneOptions {
  CommandLine command;  // `mlir_file` and whatever says what the device is
  bool warn_on_unknown_type = false;
  bool error_on_unknown_type = false;
};

// The line that goes to standard output.
Result<std::string> EstimateStandAlone(const StandAloneOptions& options, const Log& log, Diagnostics& diagnostics);

}  // namespace hespas::driver::compat
