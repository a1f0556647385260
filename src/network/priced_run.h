// Simulates traces with a model's prices (simulate/collective), and says of each collective how its price came about.
#pragma once

#include "base/result.h"
#include "hardware/device.h"
#include "network/collective_model.h"
#include "network/concurrency.h"
#include "result/sim_result.h"
#include "simulate/collective/analytical.h"
#include "trace/trace_graph.h"

namespace hespas::network {

// `options` needs neither what is held nor shares of memory: the model and `concurrency` tell.
Result<result::SimResult> SimulatePriced(const trace::TraceGraph& traces, const CollectiveModel& model,
                                         const hardware::Device& device, const Concurrency& concurrency,
                                         const simulate::AnalyticalOptions& options);

// Fills model, algorithm, levels and bound of `result.collectives`.
void ExplainPrices(const trace::TraceGraph& traces, const CollectiveModel& model, result::SimResult& result);

enum class RanksAsked : uint8_t { kAll, kFirstOfProgram };

// Fills `result.pricings` from the intervals of these ranks.
void NamePrices(const trace::TraceGraph& traces, const CollectiveModel& model, RanksAsked ranks,
                result::SimResult& result);

}  // namespace hespas::network
