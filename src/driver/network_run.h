// Simulates existing traces on a system: reads the files, runs the chosen backend (`hespas simulate`).
#pragma once

#include <string>

#include "base/result.h"
#include "hardware/system.h"
#include "result/sim_result.h"
#include "simulate/simulate.h"

namespace hespas::driver {

struct NetworkRunFiles {
  std::string workload;                // prefix of the .et files
  hardware::SystemFiles system_files;  // ASTRA-sim's three files, or
  std::string system;                  // a preset's name, a folder or a file with all three
  std::string groups = "empty";        // comm_group.json; "empty" in the path: none
  bool strict = false;                 // unknown keys are errors
};

struct NetworkRun {
  hardware::System system;
  result::SimResult result;
};

Result<NetworkRun> RunNetwork(const NetworkRunFiles& files, const simulate::SimulateOptions& options,
                              Diagnostics& diagnostics);

// Reads the custom collectives that `system` names into `trace`. Relative paths start at the working directory, or
// where nothing is there, at `folder`.
Status ReadCustomCollectives(hardware::System& system, const std::string& folder, trace::TraceGraph& trace);

}  // namespace hespas::driver
