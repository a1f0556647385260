#include "goodput/model/plan.h"

#include <fmt/format.h>

#include <cmath>
#include <initializer_list>
#include <string_view>

namespace hespas::goodput {
namespace {

struct Figure {
  std::string_view name;
  double value;
};

Error Bad(std::string message, std::string help) {
  return MakeError(kBadPlan, std::move(message), {}, std::move(help));
}

Status CheckFigures(const Plan& plan) {
  const Recovery& r = plan.recovery;
  const Checkpoint& c = plan.checkpoint;
  const Pauses& p = plan.pauses;
  for (const auto& [name, value] : std::initializer_list<Figure>{{"the work", plan.work},
                                                                 {"the failure rate", plan.failures.rate},
                                                                 {"the Weibull shape", plan.failures.shape},
                                                                 {"the checkpoint interval", c.interval},
                                                                 {"the repair time", plan.pool.repair},
                                                                 {"the slow-down", p.slow_factor}}) {
    if (!(value > 0) || !std::isfinite(value)) return Bad(fmt::format("{} is {}", name, value), "it is above 0");
  }
  for (const auto& [name, value] : std::initializer_list<Figure>{{"the detection time", r.detection},
                                                                 {"the restart time", r.restart},
                                                                 {"the replacement time", r.replace},
                                                                 {"the time to load a checkpoint", r.load_fast},
                                                                 {"the time to load a checkpoint", r.load_deep},
                                                                 {"the checkpoint's stall", c.stall},
                                                                 {"the checkpoint's write time", c.lag},
                                                                 {"the checkpoint's write time", c.persist_lag},
                                                                 {"the rejoin time", plan.pool.rejoin},
                                                                 {"the start time", p.start},
                                                                 {"the evaluation interval", p.evaluation_interval},
                                                                 {"the evaluation time", p.evaluation},
                                                                 {"the rate of slow episodes", p.slow_rate},
                                                                 {"the time of slow episodes", p.slow_time}}) {
    if (!(value >= 0) || !std::isfinite(value)) return Bad(fmt::format("{} is {}", name, value), "it is 0 or above");
  }
  for (const auto& [name, value] :
       std::initializer_list<Figure>{{"hardware", plan.failures.hardware}, {"deep", plan.failures.deep}}) {
    if (!(value >= 0 && value <= 1))
      return Bad(fmt::format("the fraction of {} failures is {}", name, value), "it lies between 0 and 1");
  }
  return {};
}

}  // namespace

double Plan::MeanRecovery() const {
  const double deep = checkpoint.tiers ? failures.deep : 0;
  return recovery.detection + recovery.restart + failures.hardware * recovery.replace +
         (1 - deep) * recovery.load_fast + deep * recovery.load_deep;
}

Status Check(const Plan& plan) {
  if (Status figures = CheckFigures(plan); !figures) return figures;
  const Checkpoint& c = plan.checkpoint;
  if (c.stall >= c.interval || c.lag >= c.interval) {
    return Bad(fmt::format("a checkpoint takes {:.4g} s, the interval between two is {:.4g} s",
                           std::max(c.stall, c.lag), c.interval),
               "raise --checkpoint-interval or --storage-bandwidth, or choose --checkpoint async or memory");
  }
  if (c.tiers && c.persist_lag >= c.interval * static_cast<double>(c.persist_every)) {
    return Bad(fmt::format("storage takes {:.4g} s for a checkpoint, the interval between two is {:.4g} s",
                           c.persist_lag, c.interval * static_cast<double>(c.persist_every)),
               "raise --persist-interval or --storage-bandwidth");
  }
  const Pool& pool = plan.pool;
  if (pool.nodes < 1) return Bad(fmt::format("there are {} nodes", pool.nodes), "a run needs a node");
  if (pool.spares < 0 || pool.spares > pool.nodes)
    return Bad(fmt::format("{} spare nodes for {} nodes", pool.spares, pool.nodes),
               "spares are 0 to as many as there are nodes");
  if (pool.least < 1 || pool.least > pool.nodes)
    return Bad(fmt::format("at least {} of {} nodes", pool.least, pool.nodes),
               "it lies between 1 and the number of nodes");
  const Pauses& p = plan.pauses;
  if (p.evaluation > 0 && !(p.evaluation_interval > 0))
    return Bad("evaluations take time, but their interval is 0", "give --evaluation-interval, too");
  if (p.slow_factor < 1)
    return Bad(fmt::format("a slow node takes {} of the time", p.slow_factor), "--slow-factor is at least 1");
  return {};
}

double Survival(const Failures& failures, double time) {
  if (time <= 0) return 1;
  if (failures.shape == 1) return std::exp(-failures.rate * time);
  return std::exp(-std::pow(time * failures.rate * std::tgamma(1 + 1 / failures.shape), failures.shape));
}

double TimeToFailure(const Failures& failures, double uniform) {
  const double hazard = -std::log1p(-uniform);
  if (failures.shape == 1) return hazard / failures.rate;
  return std::pow(hazard, 1 / failures.shape) / (failures.rate * std::tgamma(1 + 1 / failures.shape));
}

}  // namespace hespas::goodput
