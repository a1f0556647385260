// hespas_roofline_estimator: one program, estimated as a whole, without splitting.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "driver/compat/configuration.h"
#include "driver/compat/log.h"

namespace hespas::driver::compat {

// Given options win over those of the configuration file or the preset.
struct StandAloneOptions {
  std::string config_path;  // a configuration with `perf_estimator`
  std::string device;       // or a preset
  std::string program;
  std::optional<double> peak_flops;
  std::optional<double> memory_bandwidth;
  std::vector<std::string> per_datatype_flops;  // "bf16=312e12"
  std::optional<double> tdp_w;
  std::optional<double> hbm_power_ratio;
  bool warn_on_unknown_type = false;
  bool error_on_unknown_type = false;
  bool compat = false;
};

// The line that goes to standard output.
Result<std::string> EstimateStandAlone(const StandAloneOptions& options, const Log& log, Diagnostics& diagnostics);

}  // namespace hespas::driver::compat
