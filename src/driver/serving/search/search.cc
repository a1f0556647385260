#include "driver/serving/search/search.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <future>
#include <map>
#include <set>
#include <thread>

#include "driver/serving/overload.h"
#include "driver/serving/search/candidates.h"
#include "driver/serving/search/highest_rate.h"
#include "driver/serving/search/search_bounds.h"
#include "driver/serving/search/steady_run.h"
#include "driver/serving/server.h"

namespace hespas::driver {
namespace {

constexpr int64_t kMostClients = 1024;
constexpr double kSteadyRuns = 6;  // times a request's duration, of which the middle is steady
constexpr double kLonger = 1.5;    // than requests were thought to take: a run is repeated

// A candidate, simulated by one of its equal parts.
struct Candidate {
  size_t number = 0;
  const ServeOptions& whole;
  ServeOptions part;
  const Server& server;  // of the part
  int64_t parts = 1;
  SearchBounds bounds;  // of the part
  double most() const { return bounds.requests_per_s(static_cast<double>(parts)); }
};

// Candidates that share a device, weights, tensor and pipeline ranks.
class Searcher {
 public:
  Searcher(const ServeOptions& options, serve::Slo slo) : options_(options), slo_(slo) {}

  // Without a load it is the highest one that keeps the limits.
  bool highest() const {
    const serve::Load& load = options_.load;
    return !load.clients && !load.rate && load.trace.empty() && (slo_.ttft_s || slo_.tpot_s || slo_.e2e_s);
  }

  void Add(size_t number, const ServeOptions& options) {
    Diagnostics unsuitable;  // a layout that the model does not admit
    auto whole = MakeServer(options, unsuitable);
    if (!whole || (whole->memory && !whole->memory->fits)) return;
    const bool open = options.load.trace.empty() && !options.load.clients;
    const int64_t parts = open ? EqualParts(whole->layout) : 1;
    const ServeOptions part = PartOf(options, whole->layout, parts);
    const double transfer = whole->transfer_s_per_token;  // between the pools of the whole
    auto server = parts > 1 ? MakeServer(part, unsuitable) : std::move(whole);
    if (!server) return;
    server->transfer_s_per_token = transfer;
    const Server& kept = WithSharedSteps(std::move(server));
    if (Hopeless(kept)) return;
    SearchBounds bounds;
    const bool all_count = options.warm_up == 0;  // for the 99th percentile
    if (highest()) bounds = BoundsOf(kept, part.load, all_count ? slo_.tpot_s : std::nullopt);
    candidates_.push_back(
        {.number = number, .whole = options, .part = part, .server = kept, .parts = parts, .bounds = bounds});
  }
  const std::vector<Candidate>& candidates() const { return candidates_; }

  std::vector<SearchPoint> Points(const Candidate& candidate) const {
    std::vector<SearchPoint> points;
    const auto add = [&](const std::optional<SearchPoint>& point) {
      if (point) points.push_back(*point);
    };
    if (highest()) {
      add(HighestRate(candidate));
    } else if (options_.load.clients || options_.load.rate || !options_.load.trace.empty()) {
      add(Measure(candidate, candidate.part));
      if (!points.empty() && Overloaded(points.back().warnings)) points.back().meets = false;
    } else {
      for (int64_t clients = 1; clients <= kMostClients; clients *= 4) {
        ServeOptions loaded = candidate.part;
        loaded.load.clients = clients;
        if (!loaded.load.requests) loaded.load.requests = std::max(kSearchRequests, 2 * clients);
        add(Measure(candidate, loaded));
      }
    }
    return points;
  }

 private:
  // Not even a lone request keeps the limits.
  bool Hopeless(const Server& server) const {
    const auto mean = serve::Length::Parse(options_.load.input);
    const double tokens = mean ? mean->Mean() : 1;
    const double step =
        server.steps->CostOf({.decode_requests = 1, .decode_rows = 1, .decode_context = tokens}).seconds /
        static_cast<double>(1 + server.engine.policy.speculation.drafts);
    return slo_.tpot_s && step > *slo_.tpot_s;
  }

  // Servers that differ in their number of engines have the same steps: those of the first one, which is kept.
  const Server& WithSharedSteps(std::unique_ptr<Server> server) {
    const int64_t within = server->layout.data_within ? server->layout.parallelism.data : 1;
    servers_.push_back(std::move(server));
    Server& kept = *servers_.back();
    const auto [steps, fresh] = steps_.try_emplace(within, kept.steps);
    if (!fresh) kept.steps = steps->second;
    return kept;
  }

  // `steady`: later requests must not take longer than earlier ones, as they do where a queue grows.
  std::optional<SearchPoint> Measure(const Candidate& candidate, const ServeOptions& options,
                                     bool steady = false) const {
    Diagnostics ignored;  // of a single point: refused requests
    const auto found = ServeLoad(candidate.server, options, ignored);
    if (!found || found->figures.answered == 0) return std::nullopt;
    const serve::Figures& f = found->figures;
    const ServeOptions& whole = candidate.whole;
    SearchPoint point{.device = found->device,
                      .devices = whole.devices,
                      .parallelism = found->parallelism,
                      .disaggregate = whole.disaggregate,
                      .weights = found->weights,
                      .ttft_s = f.ttft.mean,
                      .tpot_s = f.tpot.mean,
                      .e2e_s = f.e2e.mean,
                      .tokens_per_s_per_user = f.tokens_per_s_per_user,
                      .tokens_per_s_per_device = f.tokens_per_s / static_cast<double>(found->devices),
                      .cost = found->cost};
    point.parallelism.data = whole.data.value_or(1);
    if (options.load.clients) point.clients = *options.load.clients * candidate.parts;
    if (options.load.rate) point.rate = *options.load.rate * static_cast<double>(candidate.parts);
    // Beyond capacity the queue grows for as long as requests come: limits that a short run keeps say nothing.
    const bool follows = !options.load.rate || Follows(*found);
    point.meets = follows && (!slo_.ttft_s || f.ttft.p99 <= *slo_.ttft_s) &&
                  (!slo_.tpot_s || f.tpot.p99 <= *slo_.tpot_s) && (!slo_.e2e_s || f.e2e.p99 <= *slo_.e2e_s);
    point.drifts = steady && point.meets && Drifts(*found);
    point.meets = point.meets && !point.drifts;
    if (steady && point.meets) {
      const double tokens = SteadyTokensPerS(*found, options.load);
      if (point.cost) point.cost = *point.cost * (f.tokens_per_s / tokens);
      point.tokens_per_s_per_device = tokens / static_cast<double>(found->devices);
    }
    point.span_s = SpanOf(found->run);
    point.warnings = found->warnings;
    return point;
  }

  struct Saturated {
    double requests_per_s = 1;
    double request_s = 1;  // that each takes
  };

  // What an engine saturates at with steps within the limit of a token's time: of n that decode, each step also takes
  // the prompts of those that take the place of the finished ones.
  Saturated Saturation(const Server& server) const {
    const auto input = serve::Length::Parse(options_.load.input);
    const auto output = serve::Length::Parse(options_.load.output);
    if (!input || !output) return {};
    const double in = input->Mean();
    const double out = std::max(output->Mean(), 1.0);
    Saturated best{.requests_per_s = 0};
    for (double n = 1; n <= static_cast<double>(server.engine.policy.max_requests); n *= 2) {
      const double prompts = in * n / out;
      serve::StepShape step{.decode_requests = n, .decode_rows = n, .decode_context = n * (in + out / 2)};
      step.prompt_tokens = prompts;
      step.prompt_requests = n / out;
      step.prompt_context = prompts;
      step.prompt_pairs = prompts * in / 2;
      const double seconds = server.steps->CostOf(step).seconds;
      if (slo_.tpot_s && seconds > *slo_.tpot_s) break;
      if (n / out / seconds > best.requests_per_s)
        best = {.requests_per_s = n / out / seconds, .request_s = out * seconds};
    }
    return best.requests_per_s > 0 ? best : Saturated{};
  }

  // From near the bounds, if there are any, the rate is halved until all limits are kept, or else doubled until one is
  // missed; then its interval is halved. Rates above the bounds are missed. What is found must hold in the steady part
  // of a longer run; else it is lowered.
  std::optional<SearchPoint> HighestRate(const Candidate& candidate) const {
    ServeOptions options = candidate.part;
    options.give_up = true;
    const int64_t least = options.load.requests.value_or(kSearchRequests);
    const double bound = candidate.bounds.requests_per_s(1);
    const Saturated saturated = Saturation(candidate.server);
    constexpr double kRuns = 3;            // times as long as a request
    double longest = saturated.request_s;  // so far, in seconds
    const auto measure = [&](double rate, double runs, bool steady) -> std::optional<SearchPoint> {
      if (rate > bound) return std::nullopt;
      options.load.rate = rate;
      options.load.requests = std::max(
          least, static_cast<int64_t>(std::min(runs * rate * longest, static_cast<double>(kMostSearchRequests))));
      return Measure(candidate, options, steady);
    };
    const auto meets = [&](double rate) {
      const auto point = measure(rate, kRuns, false);
      if (!point || !point->meets) return false;
      longest = point->span_s;
      return true;
    };
    // Chance, such as a long answer among the last, lets single runs drift, and short ones have drawn no long answers;
    // a queue grows on in longer ones.
    const auto sustained = [&](double rate) -> std::optional<SearchPoint> {
      for (double runs = kSteadyRuns;; runs *= 4) {
        auto point = measure(rate, runs, true);
        if (!point || (!point->meets && !point->drifts)) return std::nullopt;
        const bool short_run = point->meets && point->span_s > kLonger * longest;
        longest = std::max(longest, point->span_s);
        if (point->meets && !short_run) return point;
        const bool last = runs > 4 * kSteadyRuns || *options.load.requests >= kMostSearchRequests;
        if (last) return point->meets ? point : std::nullopt;
        if (short_run) runs /= 4;
      }
    };
    const auto engines =
        static_cast<double>(std::max(candidate.server.layout.decode, candidate.server.layout.replicas));
    const double low = HighestOf(meets, RateToBegin(saturated.requests_per_s * engines / 2, bound));
    return low > 0 ? HighestSustained(sustained, low) : std::nullopt;
  }

  const ServeOptions& options_;
  serve::Slo slo_;
  std::vector<Candidate> candidates_;
  std::vector<std::unique_ptr<Server>> servers_;
  std::map<int64_t, std::shared_ptr<serve::StepModel>> steps_;  // by data-parallel ranks in lock step
};

void Mark(std::vector<SearchPoint>& points) {
  for (SearchPoint& point : points) {
    point.pareto = std::none_of(points.begin(), points.end(), [&](const SearchPoint& other) {
      return other.tokens_per_s_per_user >= point.tokens_per_s_per_user &&
             other.tokens_per_s_per_device >= point.tokens_per_s_per_device &&
             (other.tokens_per_s_per_user > point.tokens_per_s_per_user ||
              other.tokens_per_s_per_device > point.tokens_per_s_per_device);
    });
  }
  const auto better = [](const SearchPoint& a, const SearchPoint& b) {
    if (a.meets != b.meets) return b.meets;
    return a.tokens_per_s_per_device < b.tokens_per_s_per_device;
  };
  const auto best = std::max_element(points.begin(), points.end(), better);
  if (best != points.end()) best->best = best->meets;
}

// What makes figures of a point others than they seem, by the first point that it is true of.
void WarnOnce(const std::vector<SearchPoint>& points, Diagnostics& diagnostics) {
  std::set<std::string_view> told;
  const auto queues = std::count_if(points.begin(), points.end(),
                                    [](const SearchPoint& each) { return !each.meets && Overloaded(each.warnings); });
  if (queues > 0) {
    diagnostics.Warning(kOverload,
                        fmt::format("{} of {} points do not answer as fast as requests arrive", queues, points.size()),
                        {}, "take more devices, or a lower rate");
  }
  for (const SearchPoint& point : points) {
    for (const Diagnostic& each : point.warnings) {
      const bool matters = each.kind == &kRequestsRefused || each.kind == &serve::kBeyondStepTable;
      if (matters && told.insert(each.kind->code).second) diagnostics.Warning(*each.kind, each.message, {}, each.help);
    }
  }
}

// The load that is asked for, or else a single request and the warm-up.
ServeOptions AnyLoad(ServeOptions options) {
  serve::Load& load = options.load;
  if (load.rate || load.clients || !load.trace.empty()) return options;
  load.rate = 1;
  load.requests = load.requests.value_or(std::max<int64_t>(options.warm_up, 0) + 1);
  return options;
}

// Calls `work` with each number below `count`, on all cores; what a thread throws is thrown here.
template <typename Work>
void OnAllCores(size_t count, Work work) {
  std::atomic<size_t> next = 0;
  const auto some = [&] {
    for (size_t i = next++; i < count; i = next++) work(i);
  };
  std::vector<std::future<void>> others;  // where no thread can start, get() does the work
  const size_t threads = std::min<size_t>(std::max(1U, std::thread::hardware_concurrency()), count);
  for (size_t i = 1; i < threads; ++i) others.push_back(std::async(some));
  some();
  for (std::future<void>& other : others) other.get();
}

// All candidates in groups that share step times, each used by one thread at a time.
class Groups {
 public:
  Groups(const ServeOptions& options, const serve::Slo& slo, const std::vector<ServeOptions>& candidates)
      : found_(candidates.size()) {
    std::map<StepsKey, size_t> numbers;
    std::vector<std::vector<size_t>> members;
    for (size_t i = 0; i < candidates.size(); ++i) {
      const auto [at, fresh] = numbers.try_emplace(StepsKeyOf(candidates[i]), members.size());
      if (fresh) members.emplace_back();
      members[at->second].push_back(i);
    }
    for (size_t i = 0; i < members.size(); ++i) searchers_.emplace_back(options, slo);
    OnAllCores(members.size(), [&](size_t group) {
      for (const size_t i : members[group]) searchers_[group].Add(i, candidates[i]);
    });
  }

  SearchAnswer Take() {
    SearchAnswer answer{.points = {}, .candidates = found_.size(), .excluded = found_.size()};
    for (const Searcher& searcher : searchers_) answer.excluded -= searcher.candidates().size();
    std::map<std::pair<std::string, std::string>, std::vector<Member>> alike;
    for (const Searcher& searcher : searchers_) {
      for (const Candidate& each : searcher.candidates())
        alike[{each.whole.device.name, each.whole.weights}].push_back({&searcher, &each});
    }
    for (auto& [device_and_weights, members] : alike) answer.dominated += Simulate(std::move(members));
    for (const auto& points : found_) answer.points.insert(answer.points.end(), points.begin(), points.end());
    Mark(answer.points);
    return answer;
  }

 private:
  struct Member {
    const Searcher* searcher;
    const Candidate* candidate;
  };

  // Those of one device and format, by falling bounds, a round at a time; returns how many are left out because a point
  // of an earlier round beats their bounds. Rounds do not depend on the number of threads, so neither does the answer.
  size_t Simulate(std::vector<Member> members) {
    std::stable_sort(members.begin(), members.end(),
                     [](const Member& a, const Member& b) { return a.candidate->most() > b.candidate->most(); });
    const bool highest = members.front().searcher->highest();
    const size_t round_size = highest ? 8 : members.size();
    std::vector<std::pair<double, double>> front;  // time per token and requests/s
    const auto output = serve::Length::Parse(members.front().candidate->whole.load.output);
    const double tokens = std::max(output ? output->Mean() : 1, 1.0);
    size_t dominated = 0;
    for (size_t begin = 0; begin < members.size(); begin += round_size) {
      const size_t end = std::min(begin + round_size, members.size());
      std::map<const Searcher*, std::vector<const Candidate*>> round;
      for (size_t i = begin; i < end; ++i) {
        const Candidate& each = *members[i].candidate;
        const bool beaten = each.bounds.Beaten(front, static_cast<double>(each.parts));
        dominated += beaten ? 1 : 0;
        if (!beaten) round[members[i].searcher].push_back(&each);
      }
      const std::vector<std::pair<const Searcher*, std::vector<const Candidate*>>> tasks(round.begin(), round.end());
      OnAllCores(tasks.size(), [&](size_t task) {
        for (const Candidate* each : tasks[task].second) found_[each->number] = tasks[task].first->Points(*each);
      });
      for (const auto& [searcher, each] : tasks) {
        for (const Candidate* candidate : each) AddToFront(found_[candidate->number], tokens, front);
      }
    }
    return highest ? dominated : 0;
  }

  static void AddToFront(const std::vector<SearchPoint>& points, double tokens,
                         std::vector<std::pair<double, double>>& front) {
    for (const SearchPoint& point : points) {
      if (point.meets)
        front.emplace_back(point.tpot_s, point.tokens_per_s_per_device * static_cast<double>(point.devices) / tokens);
    }
  }

  std::vector<std::vector<SearchPoint>> found_;  // by candidate
  std::deque<Searcher> searchers_;
};

}  // namespace

std::optional<SearchAnswer> Search(const ServeOptions& options, Diagnostics& diagnostics) {
  const auto slo = ResolveSlo(options.slo, diagnostics);
  if (!slo) return std::nullopt;
  if (options.load.requests && options.load.trace.empty()) {
    const Status count = serve::CheckCount(*options.load.requests);
    if (!count) return diagnostics.Report(count.error()), std::nullopt;
  }
  const auto candidates = Candidates(options);
  if (candidates.empty()) {
    diagnostics.Error(kBadServe, "no layout of the devices goes with --tp, --pp and --dp");
    return std::nullopt;
  }
  const bool alike = std::all_of(candidates.begin(), candidates.end(), [&](const ServeOptions& each) {
    return StepsKeyOf(each) == StepsKeyOf(candidates.front());
  });
  if (options.step_table && !alike) {
    diagnostics.Error(kBadServe,
                      "--step-table, --prefill and --decode have the steps of one layout; --search tries several", {},
                      "give --tp and --pp, one --device and one of --weights");
    return std::nullopt;
  }
  SearchAnswer answer = Groups(options, *slo, candidates).Take();
  WarnOnce(answer.points, diagnostics);
  if (!answer.points.empty()) return answer;
  // Why: what the first candidate alone says, of itself and of the load.
  const auto server = MakeServer(candidates.front(), diagnostics);
  if (!server || !ServeLoad(*server, AnyLoad(candidates.front()), diagnostics)) return std::nullopt;
  diagnostics.Error(kBadServe, fmt::format("none of {} candidates keeps the limits", answer.candidates), {},
                    "relax --slo, or take more or faster devices");
  return std::nullopt;
}

}  // namespace hespas::driver
