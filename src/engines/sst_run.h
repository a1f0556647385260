// Runs traces over SST's packets (`--network-backend sst`): writes what `sst` runs, runs it, and reads the answer.
#pragma once

#include <chrono>
#include <memory>
#include <string>

#include "base/result.h"
#include "engines/network_run.h"

namespace hespas::engines {

// Writes run.json, sst.py, run.sh and the system's three files into `folder`.
Status WriteSst(const NetworkRunFiles& files, const hardware::System& system, const simulate::SimulateOptions& options,
                const std::string& folder);

// Writes into a folder of its own, runs sst and reads the answer.
Result<result::SimResult> RunSst(const NetworkRunFiles& files, const NetworkRun& inputs,
                                 const simulate::SimulateOptions& options);

// Of traces that are in no files yet; SST as it is in PATH.
Result<result::SimResult> RunSstOn(const trace::TraceGraph& trace, const hardware::System& system,
                                   const simulate::SimulateOptions& options);

// What run.json says: for the component in SST.
struct SstRun {
  std::shared_ptr<const NetworkRun> inputs;  // one for all components of a process
  simulate::SimulateOptions options;
  std::string folder;

  // Into result.RANK.json beside run.json; an error is written as such and is no error here.
  Status WriteResult(uint32_t rank, const Result<result::SimResult>& result) const;
};
Result<SstRun> ReadSstRun(const std::string& file);

}  // namespace hespas::engines
