// Collectives as a device's stream sees them, without a rendezvous of hosts: rows whose `timing` is `stream` or
// `graph`.
//
// - They are priced by the calibrated model of the network (src/network), as a collective of a step is. Rows without
//   `timing` hold the rendezvous too (estimate/calibrated/collective.h).
#pragma once

#include <cstdint>

#include "base/diagnostic.h"
#include "base/text/csv_text.h"
#include "estimate/calibrated/fit/table.h"
#include "hardware/device.h"
#include "hardware/system.h"
#include "validate/measured_sets.h"

namespace hespas::validate {

inline constexpr uint64_t kHostRanks = 8;  // of the measured hosts

// Replaces the predictions of such rows; `specs` are the collectives of the table's rows.
Status PredictStreams(const CsvTable& table,
                      const std::vector<std::optional<estimate::calibrated::CollectiveSpec>>& specs,
                      const hardware::Device& device, const hardware::System& system,
                      estimate::calibrated::Predictions& predictions);

// Set "stream collectives": with the shipped constants, or of each kind of link with those of the others.
bool AddStreamCollectives(Groups& groups, bool held_out, Diagnostics& diagnostics);

}  // namespace hespas::validate
