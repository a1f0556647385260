// Runs an installed ASTRA-sim on traces and reads its answer (`--network-backend astra-sim`).
#pragma once

#include <string>

#include "base/result.h"
#include "engines/network_run.h"
#include "hardware/system.h"
#include "result/sim_result.h"
#include "simulate/simulate.h"

namespace hespas::engines {

// Options beyond ASTRA-sim have no effect there.
Result<result::SimResult> RunAstraSim(const NetworkRunFiles& files, const hardware::System& system,
                                      const simulate::SimulateOptions& options, const AstraSimOptions& astra_sim);

// The figures in what ASTRA-sim printed. NPUs that never finished are an error.
Result<result::SimResult> ReadAstraSimOutput(const std::string& output, uint64_t npus);

}  // namespace hespas::engines
