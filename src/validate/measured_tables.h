// The tables of data/measured, and which preset represents which measured device.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostic.h"
#include "base/text/csv_text.h"
#include "estimate/calibrated/fit/shared_fit.h"

namespace hespas::validate {

// A file of data/measured; nothing, with its error reported, where it is missing or damaged.
std::optional<CsvTable> LoadMeasured(const std::string& name, Diagnostics& diagnostics);

// Rows of a table by the measured device they belong to; lines are kept.
std::map<std::string, CsvTable> ByDevice(const CsvTable& table, std::string_view column);

// The preset of a device as its measurers spell it ("Tesla_V100-PCIE-32GB", "sm_90"); unknown names are taken as
// presets.
std::string PresetOf(std::string_view measured);

double CellNumber(const CsvTable& table, size_t row, std::string_view column);
std::string CellText(const CsvTable& table, size_t row, std::string_view column);

// Column `dispatch_us`: the smallest latency of each op, which is what one eager call costs on that host.
void AddDispatch(CsvTable& table);

// The same of data/measured/kernels.csv.gz, by preset and op.
std::map<std::string, std::map<std::string, double>> DispatchFloors(Diagnostics& diagnostics);

// A device without the constants that were fitted to its own measurements; facts about its libraries stay.
hardware::Device WithoutOwnConstants(hardware::Device device);

// All measured kernels, of one split of their source: what shared constants are fitted to.
std::optional<std::vector<estimate::calibrated::DeviceKernels>> MeasuredKernels(const std::string& file,
                                                                                Diagnostics& diagnostics);

// All measured collectives; none where the table is not one of them (column `key`).
std::optional<std::vector<estimate::calibrated::DeviceCollectives>> MeasuredCollectives(const std::string& file,
                                                                                        Diagnostics& diagnostics);

}  // namespace hespas::validate
