#include "validate/shared_rows.h"

#include <algorithm>
#include <iterator>

#include "estimate/calibrated/fit/table.h"
#include "validate/measured_calls.h"
#include "validate/measured_tables.h"

namespace hespas::validate {
namespace {

// A device of several tables is one.
template <class Device, class Row>
void Add(std::vector<Device>& all, std::vector<Device> more, std::vector<Row> Device::*rows) {
  for (Device& device : more) {
    const auto known = std::find_if(all.begin(), all.end(),
                                    [&](const Device& other) { return other.device.name == device.device.name; });
    if (known == all.end()) {
      all.push_back(std::move(device));
    } else {
      std::move((device.*rows).begin(), (device.*rows).end(), std::back_inserter((*known).*rows));
    }
  }
}

template <class Device>
std::vector<Device> Take(std::vector<Device>& all, const std::string& name) {
  const auto taken =
      std::stable_partition(all.begin(), all.end(), [&](const Device& device) { return device.device.name != name; });
  std::vector<Device> devices(std::make_move_iterator(taken), std::make_move_iterator(all.end()));
  all.erase(taken, all.end());
  return devices;
}

bool ReadTable(const std::string& file, SharedRows& rows, Diagnostics& diagnostics) {
  auto collectives = MeasuredCollectives(file, diagnostics);
  auto kernels = collectives ? MeasuredKernels(file, diagnostics) : std::nullopt;
  auto calls = kernels ? MeasuredCalls(file, diagnostics) : std::nullopt;
  if (!calls) return false;
  if (collectives->empty() && kernels->empty() && calls->empty()) {
    diagnostics.Error(estimate::calibrated::kMissingColumn,
                      "no row names its device in the column `gpu` of eager kernels, `key` of collectives, or `device` "
                      "of matmuls, attention and experts inside CUDA graphs; other rows are not fitted",
                      {.file = file, .line = 1},
                      "`hespas calibrate TABLE --device NAME` fits one device's own constants");
    return false;
  }
  Add(rows.collectives, *std::move(collectives), &estimate::calibrated::DeviceCollectives::collectives);
  Add(rows.kernels, *std::move(kernels), &estimate::calibrated::DeviceKernels::kernels);
  Add(rows.calls, *std::move(calls), &estimate::field::DeviceCalls::calls);
  return true;
}

}  // namespace

std::optional<SharedRows> ReadSharedRows(const std::vector<std::string>& files, Diagnostics& diagnostics) {
  SharedRows rows;
  for (const std::string& file : files) {
    if (!ReadTable(file, rows, diagnostics)) return std::nullopt;
  }
  return rows;
}

SharedRows TakeDevice(SharedRows& rows, const std::string& device) {
  return {.kernels = Take(rows.kernels, device),
          .collectives = Take(rows.collectives, device),
          .calls = Take(rows.calls, device)};
}

}  // namespace hespas::validate
