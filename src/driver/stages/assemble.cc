#include "driver/stages/assemble.h"

#include "assemble/assemble.h"
#include "driver/stages/cost/overlap.h"
#include "driver/stages/run_options.h"
#include "driver/stages/take.h"

namespace hespas::driver {

std::optional<trace::TraceGraph> AssembleTraces(const RunOptions& options, const Prepared& prepared,
                                                const Estimated& estimated, const hardware::System* system,
                                                Diagnostics& diagnostics) {
  assemble::Options assemble_options{.open_channels = options.parts.one_of_several, .compat = options.compat};
  if (options.system.num_npus > 0) {
    assemble_options.num_npus = options.system.num_npus;
  } else if (system != nullptr && !prepared.blocks.communicates()) {
    // Nothing in the program says how many devices run it: all of the named system do, each on its own.
    assemble_options.num_npus = static_cast<uint32_t>(system->npus());
    diagnostics.Warning(kNoCommunication, "the program has no collectives: every NPU runs it on its own");
  }
  auto traces =
      Take(assemble::Assemble(*prepared.module, prepared.blocks, estimated.table, assemble_options, diagnostics),
           diagnostics);
  if (traces && options.network.overlap == Overlap::kPerfect) SeparateCommunication(*traces);
  return traces;
}

}  // namespace hespas::driver
