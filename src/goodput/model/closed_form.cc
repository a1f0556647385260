#include "goodput/model/closed_form.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace hespas::goodput {
namespace {

constexpr double kNever = 1e-12;  // probability that no sum notices

// Recovery times and how often each occurs.
struct Outage {
  double time;
  double probability;
};

std::vector<Outage> Outages(const Plan& plan, double load) {
  const Recovery& r = plan.recovery;
  const double soft = r.detection + r.restart + load;
  return {{soft + r.replace, plan.failures.hardware}, {soft, 1 - plan.failures.hardware}};
}

// Wall-clock time of one interval without failures.
double Segment(const Plan& plan, double speed) {
  const Checkpoint& c = plan.checkpoint;
  const Pauses& p = plan.pauses;
  const double evaluations = p.evaluation_interval > 0 ? p.evaluation / p.evaluation_interval : 0;
  return c.interval * (1 / speed + evaluations) + c.stall;
}

// Work saved for each second: one tier, any distribution.
double Renewal(const Plan& plan, double segment) {
  double saved = 0;
  for (const Outage& outage : Outages(plan, plan.recovery.load_fast)) {
    double sum = 0;
    for (double at = outage.time + segment + plan.checkpoint.lag;; at += segment) {
      const double survival = Survival(plan.failures, at);
      sum += survival;
      if (survival < kNever) break;
      if (survival > 1 - kNever && at > plan.work * 1e3) break;
    }
    saved += outage.probability * sum;
  }
  return saved * plan.checkpoint.interval * plan.failures.rate;
}

// The same for exponential failures.
double Exponential(const Plan& plan, double segment) {
  const double rate = plan.failures.rate;
  double arrives = 0;
  for (const Outage& outage : Outages(plan, plan.recovery.load_fast))
    arrives += outage.probability * std::exp(-rate * outage.time);
  return plan.checkpoint.interval * rate * arrives * std::exp(-rate * plan.checkpoint.lag) / std::expm1(rate * segment);
}

// Expected time as a + b E0, with E0 that from the last checkpoint in storage.
struct Linear {
  double a = 0;
  double b = 0;
};

double Tiers(const Plan& plan, double segment) {
  const double rate = plan.failures.rate;
  const double deep = plan.failures.deep;
  const auto arrival = [&](double load) {
    double arrives = 0;
    for (const Outage& outage : Outages(plan, load)) arrives += outage.probability * std::exp(-rate * outage.time);
    return arrives;
  };
  const double fast = arrival(plan.recovery.load_fast);
  const double slow = arrival(plan.recovery.load_deep);
  const Linear from_deep{(1 - slow) / (rate * slow), 1};  // a failure on the way starts it again
  const double passes = std::exp(-rate * segment);
  Linear next;
  for (int64_t i = 0; i < plan.checkpoint.persist_every; ++i) {
    // soft = (1 - fast) / rate + fast E_i + (1 - fast) ((1 - deep) soft + deep from_deep)
    const double stays = 1 / (1 - (1 - fast) * (1 - deep));
    const Linear soft{stays * ((1 - fast) / rate + (1 - fast) * deep * from_deep.a),
                      stays * (1 - fast) * deep * from_deep.b};
    const double back = stays * fast;  // the factor of E_i in soft
    const double fails = 1 - passes;
    const double own = 1 / (1 - fails * (1 - deep) * back);
    next = {own * (fails / rate + passes * next.a + fails * ((1 - deep) * soft.a + deep * from_deep.a)),
            own * (passes * next.b + fails * ((1 - deep) * soft.b + deep * from_deep.b))};
  }
  const double cycle = next.a / (1 - next.b);
  const double work = plan.checkpoint.interval * static_cast<double>(plan.checkpoint.persist_every);
  // What is not written yet when a failure comes is lost with it: first order.
  const double late = rate * (deep * plan.checkpoint.persist_lag + (1 - deep) * plan.checkpoint.lag);
  return work / (cycle + work * late);
}

// Spares and repair: how often which part of the nodes is there.
struct Nodes {
  double running = 1;
  double rejoins = 0;  // a second of running
  struct State {
    double active;  // fraction of the nodes
    double probability;
  };
  std::vector<State> states = {{1, 1}};
};

Nodes NodesOf(const Plan& plan) {
  const Pool& pool = plan.pool;
  const double rate = plan.failures.rate * plan.failures.hardware;
  if (rate <= 0) return {};
  const double load = rate * pool.repair;
  if (!pool.elastic) return {.running = 1 - ErlangB(load, pool.spares + 1)};
  // j nodes in repair; beyond the spares the job shrinks, and fails less often in proportion.
  const int64_t most = pool.spares + pool.nodes - pool.least + 1;
  Nodes out;
  out.states.clear();
  double weight = 1;
  double sum = 0;
  double waits = 0;
  for (int64_t j = 0; j <= most; ++j) {
    const auto nodes = static_cast<double>(pool.nodes);
    const double active = static_cast<double>(std::min(pool.nodes, pool.nodes + pool.spares - j)) / nodes;
    sum += weight;
    if (j == most) waits = weight;
    if (j < most) out.states.push_back({active, weight});
    if (j < most && j >= pool.spares) out.rejoins += weight * rate * active;
    weight *= load * active / static_cast<double>(j + 1);
    if (static_cast<double>(j) > load && weight < kNever * sum) break;
  }
  out.running = 1 - waits / sum;
  out.rejoins /= sum - waits;
  for (Nodes::State& state : out.states) state.probability = state.probability / (sum - waits);
  return out;
}

double Speed(const Pauses& pauses) {
  const double slow = -std::expm1(-pauses.slow_rate * pauses.slow_time);  // M/D/infinity: some episode lasts
  return 1 - slow * (1 - 1 / pauses.slow_factor);
}

}  // namespace

double ErlangB(double load, int64_t servers) {
  double inverse = 1;  // 1 / B, by the recursion over servers
  for (int64_t n = 1; n <= servers; ++n) {
    inverse = 1 + inverse * static_cast<double>(n) / load;
    if (!std::isfinite(inverse)) return 0;
  }
  return 1 / inverse;
}

ClosedForm Expected(const Plan& plan) {
  ClosedForm out;
  const Nodes nodes = NodesOf(plan);
  const bool exponential = plan.failures.shape == 1;
  const double speed = Speed(plan.pauses);
  double saved = 0;
  for (const Nodes::State& state : nodes.states) {
    Plan p = plan;
    p.failures.rate *= state.active;
    const double segment = Segment(p, speed * state.active);
    saved += state.probability * (p.checkpoint.tiers ? Tiers(p, segment)
                                  : exponential      ? Exponential(p, segment)
                                                     : Renewal(p, segment));
  }
  out.running = nodes.running;
  const double rejoining = 1 / (1 + nodes.rejoins * (plan.pool.rejoin + plan.checkpoint.stall));
  out.efficiency = saved * nodes.running * rejoining;
  out.wall = plan.pauses.start + plan.work / out.efficiency;
  out.exact = !plan.checkpoint.tiers && !plan.pool.elastic && plan.pauses.slow_rate == 0 &&
              plan.pauses.evaluation == 0 && (exponential || plan.failures.hardware == 0 || nodes.running == 1);
  return out;
}

double YoungInterval(double cost, double mtbf) { return std::sqrt(2 * cost * mtbf); }

double DalyInterval(double cost, double mtbf) {
  if (cost >= 2 * mtbf) return mtbf;
  const double ratio = std::sqrt(cost / (2 * mtbf));
  return YoungInterval(cost, mtbf) * (1 + ratio / 3 + ratio * ratio / 9) - cost;
}

double BestInterval(const Plan& plan) {
  constexpr double kGolden = 0.6180339887498949;
  constexpr int kSteps = 60;
  const double least = std::max({plan.checkpoint.stall, plan.checkpoint.lag, plan.work * 1e-7});
  double low = std::log(least * 1.0001);
  double high =
      std::log(std::max({least * 2, 20 * plan.mtbf(), 20 * YoungInterval(plan.checkpoint.stall, plan.mtbf())}));
  const auto cost = [&](double at) {
    Plan trial = plan;
    trial.checkpoint.interval = std::exp(at);
    return -Expected(trial).efficiency;
  };
  double a = high - kGolden * (high - low);
  double b = low + kGolden * (high - low);
  double at_a = cost(a);
  double at_b = cost(b);
  for (int i = 0; i < kSteps; ++i) {
    if (at_a < at_b) {
      high = b;
      b = a;
      at_b = at_a;
      at_a = cost(a = high - kGolden * (high - low));
    } else {
      low = a;
      a = b;
      at_a = at_b;
      at_b = cost(b = low + kGolden * (high - low));
    }
  }
  return std::exp((low + high) / 2);
}

}  // namespace hespas::goodput
