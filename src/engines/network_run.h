// Simulates existing traces on a system: reads the files, runs the chosen backend (`hespas simulate`).
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "base/result.h"
#include "engines/simgrid_run.h"
#include "hardware/links/link_faults.h"
#include "hardware/system.h"
#include "network/concurrency.h"
#include "result/sim_result.h"
#include "simulate/simulate.h"

namespace hespas::engines {

struct AstraSimOptions {
  std::string binary;  // path or name; empty: the names of the analytical binaries in PATH
  std::chrono::milliseconds limit = std::chrono::minutes(10);
};

struct SstOptions {
  PhysicalNetwork network;
  std::string binary;      // path or name of sst; empty: in PATH
  uint32_t processes = 1;  // more: under mpirun
  std::chrono::milliseconds limit = std::chrono::minutes(10);
};

struct NetworkRunFiles {
  std::string workload;                      // prefix of the .et files
  hardware::SystemFiles system_files;        // ASTRA-sim's three files, or
  std::string system;                        // a preset's name, a folder or a file with all three
  std::string groups = "empty";              // comm_group.json; "empty" in the path: none
  bool strict = false;                       // unknown keys are errors
  std::string log_folder;                    // of ASTRA-sim's log files; `trace-enabled` records nodes if given
  bool calibrated = false;                   // collectives by the calibrated model (src/network), not by messages
  network::Concurrency concurrency;          // of the calibrated model: what collectives take from kernels
  hardware::LinkTexts links;                 // that are slow or lost
  std::string device;                        // whose links the calibrated model has; empty: as the system file says
  std::optional<AstraSimOptions> astra_sim;  // run an installed ASTRA-sim instead
  std::optional<SimGridOptions> simgrid;     // flows in SimGrid instead
  std::optional<SstOptions> sst;             // packets in SST instead
};

struct NetworkRun {
  hardware::System system;
  result::SimResult result;
  trace::TraceGraph trace;  // empty after a run of ASTRA-sim
};

// The system and the traces, without a result; for a run of ASTRA-sim the system only.
Result<NetworkRun> ReadNetworkInputs(const NetworkRunFiles& files, Diagnostics& diagnostics);

Result<NetworkRun> RunNetwork(const NetworkRunFiles& files, const simulate::SimulateOptions& options,
                              Diagnostics& diagnostics);

// Simulates nothing and writes what the other engine would run, into its `write_only` folder.
Status WriteNetworkRun(const NetworkRunFiles& files, const simulate::SimulateOptions& options,
                       Diagnostics& diagnostics);

// Reads the custom collectives that `system` names into `trace`. Relative paths start at the working directory, or
// where nothing is there, at `folder`.
Status ReadCustomCollectives(hardware::System& system, const std::string& folder, trace::TraceGraph& trace);

}  // namespace hespas::engines
