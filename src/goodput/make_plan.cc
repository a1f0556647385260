#include "goodput/make_plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

namespace hespas::goodput {
namespace {

constexpr double kHour = 3600;
constexpr double kYear = 365 * kDay;
constexpr double kHostEfficiency = 0.8;  // of PCIe's rate, that large copies reach: protocol and payload sizes

Error Bad(std::string message, std::string help) { return MakeError(kBadRun, std::move(message), {}, std::move(help)); }

// Steps of the run, and how long undisturbed training takes.
Status FillWork(Answer& out) {
  double batch = out.step.batch;
  if (!out.options.batch.empty()) {
    const auto given = ParseSetting("batch", out.options.batch, Unit::kNumber, 0, true);
    if (!given) return given.error();
    batch = *given;
  }
  if (!(batch > 0))
    return MakeError(kNoTokens, "the program does not tell the tokens of a step", {},
                     "add --batch TOKENS, those of all devices together");
  if (!(out.options.tokens > 0) || !std::isfinite(out.options.tokens))
    return Bad(fmt::format("--tokens is {}", out.options.tokens), "it is a number above 0, for example 15e12");
  const double steps = std::ceil(out.options.tokens / batch);
  if (steps > 1e15) return Bad(fmt::format("{:.3g} steps", steps), "lower --tokens");
  out.step.batch = batch;
  out.steps = static_cast<int64_t>(steps);
  out.ideal = steps * out.step.seconds;
  out.straggling = 1 + out.settings[Setting::kStragglerSpread] * LargestNormal(out.plan.pool.nodes);
  out.plan.work =
      out.ideal * out.straggling * (1 + out.settings[Setting::kDataStall]) * (out.power ? out.power->step : 1);
  return {};
}

Result<int64_t> WholeNumber(std::string_view name, const std::string& text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 1)
    return Bad(fmt::format("--{} is `{}`", name, text), "it is a whole number above 0");
  return value;
}

Status FillPool(Answer& out) {
  Pool& pool = out.plan.pool;
  const double of_node = out.settings[Setting::kDevicesPerNode];
  pool.nodes = static_cast<int64_t>(std::ceil(static_cast<double>(out.step.devices) / of_node));
  pool.repair = out.settings[Setting::kRepairTime];
  pool.rejoin = out.settings[Setting::kRejoinTime];
  pool.elastic = !out.options.elastic.empty();
  if (!pool.elastic) return {};
  const auto least = WholeNumber("elastic", out.options.elastic);
  if (!least) return least.error();
  pool.least = *least;
  return {};
}

// So many that the job waits for less than a thousandth of the time, also at the 95th percentile of the failure rate.
void FillSpares(Answer& out) {
  constexpr double kWaiting = 1e-3;
  constexpr double kNormal95 = 1.645;
  Pool& pool = out.plan.pool;
  pool.spares = 0;
  const double worst = out.plan.failures.rate * std::exp(kNormal95 * RateSigma(out));
  const double load = worst * out.plan.failures.hardware * pool.repair;
  while (pool.spares < pool.nodes && ErlangB(load, pool.spares + 1) > kWaiting) ++pool.spares;
}

Status FillFailures(Answer& out) {
  Failures& failures = out.plan.failures;
  failures.shape = out.settings[Setting::kWeibullShape];
  failures.deep = out.settings[Setting::kDeepFailures];
  const std::string standard = out.step.family == "tpu" ? "tpuv4" : "llama3";
  const auto study = out.settings.StudyCalled(out.options.study.empty() ? standard : out.options.study);
  if (!study) return study.error();
  double scale = static_cast<double>(out.step.devices);  // from a device's rates to the job's
  out.failures_from = study->source;
  if (!out.options.mtbf.empty()) {
    const auto mtbf = ParseSetting("mtbf", out.options.mtbf, Unit::kSeconds, 0, true);
    if (!mtbf) return mtbf.error();
    scale = kHour / *mtbf / study->rate();
    out.failures_from = "given; its parts as in " + study->source;
  }
  double hardware = 0;
  for (const Component& component : study->components) {
    out.components.push_back({component.name, component.rate * scale * kDay / kHour, component.hardware});
    if (component.hardware) hardware += component.rate;
  }
  failures.rate = study->rate() * scale / kHour;
  failures.hardware = hardware / study->rate();
  return {};
}

Status FillCheckpoint(Answer& out) {
  const Settings& settings = out.settings;
  const auto kind = std::find(kCheckpointKinds.begin(), kCheckpointKinds.end(), out.options.checkpoint);
  if (kind == kCheckpointKinds.end())
    return Bad(fmt::format("--checkpoint is `{}`", out.options.checkpoint),
               fmt::format("it is one of {}", fmt::join(kCheckpointKinds, ", ")));
  const auto chosen = static_cast<CheckpointKind>(kind - kCheckpointKinds.begin());
  State state = out.step.state;
  if (!out.options.state.empty()) {
    const auto given = ParseSetting("state", out.options.state, Unit::kBytes, 0, true);
    if (!given) return given.error();
    state = {.all = *given, .device = *given / static_cast<double>(out.step.devices)};
  }
  if (!(state.all > 0))
    return MakeError(kNoState, "no argument of the program comes back as a result", {},
                     "add --state SIZE, that of a checkpoint");
  out.checkpoint_bytes = state.all;
  const double own =
      state.all / static_cast<double>(out.step.devices);  // that a device writes: copies are written once
  const double stored = own / settings[Setting::kStorageBandwidth];
  const double copied = state.device / settings[Setting::kCopyBandwidth];
  const double replicated = state.device / settings[Setting::kReplicaBandwidth];
  Checkpoint& c = out.plan.checkpoint;
  Recovery& r = out.plan.recovery;
  r.detection = settings[Setting::kDetectionTime];
  r.restart = settings[Setting::kRestartTime] + settings[Setting::kCompileTime];
  r.replace = settings[Setting::kReplaceTime];
  const bool memory = chosen == CheckpointKind::kMemory || chosen == CheckpointKind::kTiers;
  c.stall = settings[Setting::kCheckpointOverhead] + (chosen == CheckpointKind::kSync ? stored : copied);
  c.lag = chosen == CheckpointKind::kSync ? 0 : memory ? replicated : stored;
  c.tiers = chosen == CheckpointKind::kTiers;
  c.persist_lag = c.tiers ? stored : 0;
  r.load_fast = memory ? std::max(copied, replicated) : stored;
  r.load_deep = stored;
  return {};
}

Status FillInterval(Answer& out) {
  Plan& plan = out.plan;
  Checkpoint& c = plan.checkpoint;
  const auto set = [&](double interval) {
    c.interval = interval;
    const double persist = out.settings[Setting::kPersistInterval];
    c.persist_every = c.tiers ? std::max<int64_t>(1, std::llround(std::min(persist / interval, 1e9))) : 1;
  };
  out.young = YoungInterval(c.stall, plan.mtbf());
  out.daly = DalyInterval(c.stall, plan.mtbf());
  set(std::max({out.daly, c.stall * 2, c.lag * 2, 1.0}));
  if (Status fits = Check(plan); !fits) return fits;
  out.best = BestInterval(plan);
  const std::string& wanted = out.options.interval;
  if (wanted == "young" || wanted == "daly" || wanted == "best") {
    const double interval = wanted == "young" ? out.young : wanted == "daly" ? out.daly : out.best;
    // Storage must be done with one checkpoint before the next.
    set(std::max({interval, c.stall * 1.01, c.lag * 1.01}));
  } else if (wanted == "simulated") {
    const auto found =
        SimulatedBestInterval(plan, {.runs = std::min<int64_t>(out.options.runs, 100), .seed = out.options.seed},
                              std::max({out.best / 8, c.stall * 1.01, c.lag * 1.01}), out.best * 8);
    if (!found) return found.error();
    set(*found);
  } else {
    const auto given = ParseSetting("checkpoint-interval", wanted, Unit::kSeconds, 0, true);
    if (!given)
      return MakeError(*given.error().kind, given.error().message, {},
                       "give a time, or young, daly, best or simulated");
    set(*given);
  }
  return Check(plan);
}

}  // namespace

double RateSigma(const Answer& answer) {
  const bool known = !answer.options.mtbf.empty() && !answer.settings.Given(Setting::kFailureSigma);
  return known ? 0 : answer.settings[Setting::kFailureSigma];
}

Result<Settings> SettingsOf(const Step& step, const Options& options) {
  auto settings = Settings::Default();
  if (!settings) return settings;
  constexpr double kTpusOfHost = 4;
  if (step.family == "tpu")
    settings->Replace(Setting::kDevicesPerNode, kTpusOfHost, "Google Cloud TPU documentation: chips of a host");
  if (step.host_bandwidth > 0)
    settings->Replace(Setting::kCopyBandwidth, kHostEfficiency * step.host_bandwidth,
                      "device file's host_bandwidth, 80 % of it");
  for (const auto& [name, text] : options.settings) {
    if (Status set = settings->Set(name, text); !set) return set.error();
  }
  const double of_node = (*settings)[Setting::kDevicesPerNode];
  if (of_node != std::floor(of_node))
    return Bad(fmt::format("--devices-per-node is {}", of_node), "it is a whole number");
  // A job that is smaller than a node has a node of its own size.
  if (static_cast<double>(step.devices) < of_node && !settings->Given(Setting::kDevicesPerNode))
    settings->Replace(Setting::kDevicesPerNode, static_cast<double>(step.devices), "the job's devices");
  return settings;
}

Status MakePlan(Answer& out) {
  if (Status pool = FillPool(out); !pool) return pool;
  if (Status work = FillWork(out); !work) return work;
  if (Status failures = FillFailures(out); !failures) return failures;
  if (out.options.spares) {
    out.plan.pool.spares = *out.options.spares;
  } else if (!out.plan.pool.elastic) {
    FillSpares(out);
  }
  Pauses& pauses = out.plan.pauses;
  pauses.start = out.settings[Setting::kStartTime] + out.settings[Setting::kCompileTime];
  pauses.evaluation_interval = out.settings[Setting::kEvaluationInterval];
  pauses.evaluation = pauses.evaluation_interval > 0 || out.settings.Given(Setting::kEvaluationTime)
                          ? out.settings[Setting::kEvaluationTime]
                          : 0;
  pauses.slow_rate = out.settings[Setting::kSlowRate] * static_cast<double>(out.plan.pool.nodes) / kYear;
  pauses.slow_factor = out.settings[Setting::kSlowFactor];
  pauses.slow_time = out.settings[Setting::kSlowTime];
  if (Status checkpoint = FillCheckpoint(out); !checkpoint) return checkpoint;
  return FillInterval(out);
}

}  // namespace hespas::goodput
