// All rows that shared constants are fitted to, of several tables, by device.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "estimate/calibrated/fit/shared_fit.h"
#include "estimate/field/fit.h"

namespace hespas::validate {

struct SharedRows {
  std::vector<estimate::calibrated::DeviceKernels> kernels;  // eager calls
  std::vector<estimate::calibrated::DeviceCollectives> collectives;
  std::vector<estimate::field::DeviceCalls> calls;  // inside CUDA graphs

  bool empty() const { return kernels.empty() && collectives.empty() && calls.empty(); }
};

// Each table has rows of one of them, or an error says so.
std::optional<SharedRows> ReadSharedRows(const std::vector<std::string>& files, Diagnostics& diagnostics);

// Those of one device, which leave `rows`.
SharedRows TakeDevice(SharedRows& rows, const std::string& device);

}  // namespace hespas::validate
