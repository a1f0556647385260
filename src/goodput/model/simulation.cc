#include "goodput/model/simulation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <queue>

#include "base/interrupt.h"
#include "goodput/model/closed_form.h"
#include "goodput/model/random.h"

namespace hespas::goodput {
namespace {

constexpr double kForever = std::numeric_limits<double>::infinity();

// A checkpoint on its way to where it counts.
struct Written {
  double at = kForever;
  double work = 0;
};

class Job {
 public:
  Job(const Plan& plan, const SimulationOptions& options, uint64_t run)
      : plan_(plan),
        times_(options.seed, run, 0),
        sorts_(options.seed, run, 1),
        repair_times_(options.seed, run, 2),
        slow_times_(options.seed, run, 3),
        active_(plan.pool.nodes),
        spares_(plan.pool.spares) {
    next_slow_ = plan.pauses.slow_rate > 0 ? slow_times_.Exponential(1 / plan.pauses.slow_rate) : kForever;
    DrawFailure();
  }

  SimulatedRun Run() {
    while (!Pass(plan_.pauses.start, out_.seconds.start)) ++out_.failures, DrawFailure();
    Schedule();
    while (work_ < plan_.work) {
      if (Train() && work_ < plan_.work && work_ >= next_checkpoint_) Save();
      if (failed_) Recover();
      if (work_ >= next_evaluation_ && work_ < plan_.work) Evaluate();
      if (failed_) Recover();
    }
    out_.seconds.work = plan_.work;
    out_.seconds.lost = done_ - plan_.work;
    return out_;
  }

 private:
  // Nodes that are not there do not fail.
  void DrawFailure() {
    Failures failures = plan_.failures;
    failures.rate *= static_cast<double>(active_) / static_cast<double>(plan_.pool.nodes);
    failure_ = now_ + TimeToFailure(failures, times_.Uniform());
  }

  // Time goes by; false: a failure came first, and the clock shows when.
  bool Pass(double seconds, double& account) {
    const double before = now_;
    now_ = std::min(now_ + seconds, failure_);
    account += now_ - before;
    failed_ = failure_ <= before + seconds;
    return !failed_;
  }

  void Schedule() {
    next_checkpoint_ = work_ + plan_.checkpoint.interval;
    const double interval = plan_.pauses.evaluation_interval;
    next_evaluation_ = interval > 0 ? (std::floor(work_ / interval) + 1) * interval : kForever;
  }

  // To the next checkpoint, evaluation, failure or change of speed.
  bool Train() {
    Change();
    if (failed_) return false;
    const double capacity = static_cast<double>(active_) / static_cast<double>(plan_.pool.nodes);
    const double pace = slow_until_ > now_ ? 1 / plan_.pauses.slow_factor : 1;
    const double speed = capacity * pace;
    const double target = std::min({next_checkpoint_, next_evaluation_, plan_.work});
    const double needed = (target - work_) / speed;
    const double change = NextChange() - now_;
    double passed = 0;
    Pass(std::min(needed, change), passed);
    const double done = !failed_ && needed <= change ? target - work_ : passed * speed;
    work_ = !failed_ && needed <= change ? target : work_ + done;
    done_ += done;
    out_.seconds.shrunk += passed * pace * (1 - capacity);
    out_.seconds.slow += passed * (1 - pace);
    return !failed_;
  }

  double NextChange() const {
    double next = slow_until_ > now_ ? slow_until_ : next_slow_;
    if (active_ < plan_.pool.nodes && !repairs_.empty()) next = std::min(next, repairs_.top());
    return next;
  }

  // Repaired nodes and slow ones, up to now.
  void Change() {
    while (next_slow_ <= now_) {
      slow_until_ = std::max(slow_until_, next_slow_ + plan_.pauses.slow_time);
      next_slow_ += slow_times_.Exponential(1 / plan_.pauses.slow_rate);
    }
    const int64_t before = active_;
    Repaired();
    if (active_ == before) return;
    DrawFailure();
    Pass(plan_.pool.rejoin + plan_.checkpoint.stall, out_.seconds.restart);
  }

  void Repaired() {
    while (!repairs_.empty() && repairs_.top() <= now_) {
      repairs_.pop();
      ++(active_ < plan_.pool.nodes ? active_ : spares_);
    }
  }

  void Save() {
    if (!Pass(plan_.checkpoint.stall, out_.seconds.checkpoint)) return;
    Commit();
    if (fast_.at == kForever) fast_ = {now_ + plan_.checkpoint.lag, work_};
    if (++saves_ % std::max<int64_t>(plan_.checkpoint.persist_every, 1) == 0 && deep_.at == kForever)
      deep_ = {now_ + plan_.checkpoint.persist_lag, work_};
    next_checkpoint_ = work_ + plan_.checkpoint.interval;
  }

  void Evaluate() {
    next_evaluation_ += plan_.pauses.evaluation_interval;
    Pass(plan_.pauses.evaluation, out_.seconds.evaluation);
  }

  // What is written by now counts.
  void Commit() {
    if (fast_.at <= now_) saved_ = fast_.work, fast_ = {};
    if (deep_.at <= now_) saved_deep_ = deep_.work, deep_ = {};
  }

  void Recover() {
    Commit();
    fast_ = {};  // what goes to storage already lies in host memory, and is written on
    bool from_deep = false;
    do {
      ++out_.failures;
      const bool hardware = sorts_.Uniform() < plan_.failures.hardware;
      from_deep = (sorts_.Uniform() < plan_.failures.deep && plan_.checkpoint.tiers) || from_deep;
      if (from_deep) saved_ = saved_deep_, deep_ = {};
      work_ = saved_;
      if (hardware) Replace();
      DrawFailure();
      const Recovery& r = plan_.recovery;
      const double load = from_deep ? r.load_deep : r.load_fast;
      if (Pass(r.detection, out_.seconds.detection))
        Pass(r.restart + (hardware ? r.replace : 0) + load, out_.seconds.restart);
    } while (failed_);
    // Storage holds what was saved there at the same work: the count of checkpoints starts from it.
    if (from_deep) saves_ = 0;
    Schedule();
  }

  // A node goes; a spare takes over, or the job shrinks, or waits.
  void Replace() {
    Repaired();
    repairs_.push(now_ + repair_times_.Exponential(plan_.pool.repair));
    if (spares_ > 0) {
      --spares_;
    } else if (plan_.pool.elastic && active_ > plan_.pool.least) {
      --active_;
    } else {
      const double until = repairs_.top();
      repairs_.pop();
      out_.seconds.waiting += until - now_;
      now_ = until;
    }
  }

  const Plan& plan_;
  Random times_;
  Random sorts_;
  Random repair_times_;
  Random slow_times_;
  SimulatedRun out_;
  double now_ = 0;
  double failure_ = 0;
  bool failed_ = false;
  double work_ = 0;
  double done_ = 0;  // work, that lost again included
  double saved_ = 0;
  double saved_deep_ = 0;
  Written fast_;
  Written deep_;
  int64_t saves_ = 0;
  double next_checkpoint_ = 0;
  double next_evaluation_ = kForever;
  double next_slow_ = kForever;
  double slow_until_ = 0;
  int64_t active_ = 1;
  int64_t spares_ = 0;
  std::priority_queue<double, std::vector<double>, std::greater<>> repairs_;
};

constexpr int64_t kMostRuns = 1'000'000;
constexpr double kMostEvents = 2e9;
constexpr double kLeastEfficiency = 1e-3;

// The run of one draw of what is uncertain.
Plan Drawn(const Plan& plan, const SimulationOptions& options, uint64_t run, double& scale) {
  constexpr uint64_t kStream = 4;
  constexpr double kLeastScale = 0.1;  // a normal distribution has no end
  Random random(options.seed, run, kStream);
  Plan out = plan;
  scale = std::max(kLeastScale, 1 + options.work_sigma * random.Normal());
  out.work *= scale;
  out.failures.rate *= std::exp(options.rate_sigma * random.Normal());
  // A run that never ends has no length: the rarest draws are taken half way back.
  while (Expected(out).efficiency < kLeastEfficiency)
    out.failures.rate = std::sqrt(out.failures.rate * plan.failures.rate);
  return out;
}

Status CheckRuns(const Plan& plan, const SimulationOptions& options) {
  if (Status status = Check(plan); !status) return status;
  if (options.runs < 1 || options.runs > kMostRuns)
    return MakeError(kBadRuns, fmt::format("{} runs", options.runs), {}, "simulate 1 to 1,000,000 runs");
  for (const double sigma : {options.work_sigma, options.rate_sigma}) {
    if (!(sigma >= 0 && sigma <= 3))
      return MakeError(kBadRuns, fmt::format("a relative uncertainty is {}", sigma), {}, "it lies between 0 and 3");
  }
  const ClosedForm expected = Expected(plan);
  if (!(expected.efficiency > kLeastEfficiency)) {
    return MakeError(kBadPlan,
                     fmt::format("the run does not come forward: it fails every {:.4g} s, a checkpoint comes every "
                                 "{:.4g} s and recovery takes {:.4g} s",
                                 plan.mtbf(), plan.checkpoint.interval, plan.MeanRecovery()),
                     {}, "shorten --checkpoint-interval or the recovery, or check --mtbf");
  }
  const double events =
      static_cast<double>(options.runs) *
      (expected.wall * plan.failures.rate + plan.work / expected.efficiency / plan.checkpoint.interval);
  if (events > kMostEvents)
    return MakeError(kBadRuns, fmt::format("about {:.2g} checkpoints and failures to simulate", events), {},
                     "lower --runs or raise --checkpoint-interval");
  return {};
}

}  // namespace

Result<std::vector<SimulatedRun>> Simulate(const Plan& plan, const SimulationOptions& options) {
  if (Status status = CheckRuns(plan, options); !status) return status.error();
  std::vector<SimulatedRun> runs;
  runs.reserve(static_cast<size_t>(options.runs));
  for (uint64_t i = 0; i < static_cast<uint64_t>(options.runs); ++i) {
    if (Interrupted()) return InterruptedError();
    double scale = 1;
    const Plan drawn = Drawn(plan, options, i, scale);
    runs.push_back(Job(drawn, options, i).Run());
    runs.back().work_scale = scale;
  }
  return runs;
}

double MeanWall(const std::vector<SimulatedRun>& runs) {
  double sum = 0;
  for (const SimulatedRun& run : runs) sum += run.seconds.wall();
  return sum / static_cast<double>(std::max<size_t>(runs.size(), 1));
}

Result<double> SimulatedBestInterval(const Plan& plan, const SimulationOptions& options, double low, double high) {
  // Common random numbers make the curve smooth enough for sections of a third.
  constexpr int kSections = 18;
  const auto cost = [&](double at) -> Result<double> {
    Plan trial = plan;
    trial.checkpoint.interval = std::exp(at);
    auto runs = Simulate(trial, options);
    if (!runs) return runs.error();
    return MeanWall(*runs);
  };
  double from = std::log(low);
  double to = std::log(high);
  for (int i = 0; i < kSections; ++i) {
    const double a = from + (to - from) / 3;
    const double b = to - (to - from) / 3;
    const auto at_a = cost(a);
    const auto at_b = cost(b);
    if (!at_a) return at_a.error();
    if (!at_b) return at_b.error();
    (*at_a < *at_b ? to : from) = *at_a < *at_b ? b : a;
  }
  return std::exp((from + to) / 2);
}

}  // namespace hespas::goodput
