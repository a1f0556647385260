#include "simulate/simulate.h"

#include "simulate/check.h"
#include "simulate/engine/event_engine.h"
#include "simulate/engine/loops.h"
#include "simulate/explain.h"
#include "simulate/symmetry/symmetry.h"

namespace hespas::simulate {
namespace {

Result<result::SimResult> RunEngines(const trace::TraceGraph& trace, const hardware::System& system,
                                     const SimulateOptions& options) {
  EquivalentRanks classes;
  std::string why = options.engine == Engine::kEvents ? "as asked" : WhyAsymmetric(trace, system, options, classes);
  if (why.empty()) {
    EventEngine engine(trace, system, options, &classes);
    Result<result::SimResult> result = engine.Run();
    if (!engine.asymmetric()) return result;
    why = engine.WhyAsymmetric();
  }
  if (options.engine == Engine::kSymmetry) {
    return MakeError(kNotPossible, "not all ranks are equivalent: " + why, {}, "choose the engine `events`");
  }
  EventEngine engine(trace, system, options, nullptr);
  Result<result::SimResult> result = engine.Run();
  if (result) result->method = "events: " + why;
  return result;
}

}  // namespace

Result<result::SimResult> Simulate(const trace::TraceGraph& trace, const hardware::System& system,
                                   const SimulateOptions& options, Diagnostics&) {
  if (Status checked = CheckInputs(trace, system, options); !checked) return checked.error();
  Result<result::SimResult> result = RunEngines(trace, system, options);
  if (result && options.record_nodes && !trace.loops.empty()) RepeatLoops(trace, *result);
  if (result && options.record_nodes && options.explain) ExplainIntervals(trace, *result);
  return result;
}

}  // namespace hespas::simulate
