#include "driver/serving/search.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <deque>
#include <future>
#include <map>
#include <numeric>
#include <set>
#include <thread>
#include <tuple>

#include "base/text/csv_text.h"
#include "driver/serving/search_bounds.h"
#include "driver/serving/server.h"

namespace hespas::driver {
namespace {

constexpr int64_t kRequests = 200;  // of a simulation, where the user gives no number
constexpr int64_t kMostClients = 1024;
constexpr double kDrain = 1.15;    // of the time of arrivals and one request, until all are answered
constexpr double kSteadyRuns = 6;  // times a request's duration, of which the middle is steady
constexpr double kMostRequests = 20'000;
constexpr double kLonger = 1.5;   // than requests were thought to take: a run is repeated
constexpr double kLowest = 0.01;  // rate
constexpr int kMostLowered = 14;  // times that a rate is lowered before none is thought to meet
constexpr int kHalvings = 4;      // of the interval of rates: to a sixteenth, what 200 requests tell apart

std::vector<std::string> SplitList(const std::string& text) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t comma = std::min(text.find(',', begin), text.size());
    parts.push_back(text.substr(begin, comma - begin));
    begin = comma + 1;
  }
  return parts;
}

// Layouts of the devices: powers of two for tensor and pipeline ranks, what they leave as replicas or engines apart.
std::vector<ServeOptions> Layouts(const ServeOptions& options) {
  std::vector<ServeOptions> out;
  const int64_t n = options.devices;
  for (int64_t tensor = 1; tensor <= n; tensor *= 2) {
    for (int64_t pipeline = 1; tensor * pipeline <= n; pipeline *= 2) {
      if (n % (tensor * pipeline) != 0) continue;
      if (options.tensor && *options.tensor != tensor) continue;
      if (options.pipeline.value_or(pipeline) != pipeline) continue;
      const int64_t engines = n / (tensor * pipeline);
      ServeOptions layout = options;
      layout.tensor = tensor;
      layout.pipeline = pipeline;
      layout.data = engines;
      if (options.disaggregate.empty() && options.data.value_or(engines) == engines) out.push_back(layout);
      layout.data = 1;
      if (options.data.value_or(1) != 1) continue;
      for (int64_t prefill = 1; prefill < engines; prefill *= 2) {
        layout.disaggregate = fmt::format("{}:{}", prefill, engines - prefill);
        if (options.disaggregate.empty() || options.disaggregate == layout.disaggregate) out.push_back(layout);
      }
    }
  }
  return out;
}

std::vector<ServeOptions> Candidates(const ServeOptions& options) {
  std::vector<ServeOptions> out;
  for (const std::string& device : SplitList(options.device.name)) {
    for (const std::string& weights : SplitList(options.weights)) {
      ServeOptions each = options;
      each.device.name = device;
      each.weights = weights;
      const auto layouts = Layouts(each);
      out.insert(out.end(), layouts.begin(), layouts.end());
    }
  }
  return out;
}

// Of a stream that engines take in turn, what one of `engines` sees: its intervals are sums of as many of the stream's.
std::string Thinned(const std::string& arrivals, int64_t engines) {
  constexpr std::string_view kGamma = "gamma:";
  if (arrivals == "poisson") return fmt::format("{}{}", kGamma, engines);
  if (!arrivals.starts_with(kGamma)) return arrivals;
  const auto shape = CsvNumber(arrivals.substr(kGamma.size()));
  return shape ? fmt::format("{}{}", kGamma, *shape * static_cast<double>(engines)) : arrivals;
}

// Equal parts of the layout: replicas, or as many engines for prompts and for tokens as a part needs.
int64_t EqualParts(const Layout& layout) {
  return layout.prefill > 0 ? std::gcd(layout.prefill, layout.decode) : layout.replicas;
}

// One of them. A rate that they share in turn is its own with thinned arrivals.
ServeOptions PartOf(const ServeOptions& whole, const Layout& layout, int64_t parts) {
  ServeOptions part = whole;
  part.devices /= parts;
  if (layout.prefill > 0) {
    part.disaggregate = fmt::format("{}:{}", layout.prefill / parts, layout.decode / parts);
  } else if (!layout.data_within) {
    part.data = 1;
  }
  if (parts == 1) return part;
  part.load.arrivals = Thinned(whole.load.arrivals, parts);
  if (whole.load.rate) part.load.rate = *whole.load.rate / static_cast<double>(parts);
  if (whole.load.requests) part.load.requests = std::max<int64_t>(*whole.load.requests / parts, 1);
  return part;
}

// A candidate, simulated by one of its equal parts.
struct Candidate {
  size_t number = 0;
  const ServeOptions& whole;
  ServeOptions part;
  const Server& server;  // of the part
  int64_t parts = 1;
  SearchBounds bounds;  // of the whole
};

bool Beats(const SearchPoint& point, const SearchBounds& bounds, double tokens) {
  return point.meets && point.tokens_per_s_per_user >= bounds.tokens_per_s_per_user &&
         point.tokens_per_s_per_device * static_cast<double>(point.devices) > bounds.requests_per_s * tokens;
}

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
    if (highest()) bounds = BoundsOf(kept, part.load);
    bounds.requests_per_s *= static_cast<double>(parts);
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
    } else {
      for (int64_t clients = 1; clients <= kMostClients; clients *= 4) {
        ServeOptions loaded = candidate.part;
        loaded.load.clients = clients;
        if (!loaded.load.requests) loaded.load.requests = std::max(kRequests, 2 * clients);
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
    Diagnostics ignored;  // of a single point: overload, refused requests
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
    const bool follows = !options.load.rate || found->run.wall <= kDrain * ExpectedEnd(*found);
    point.meets = follows && (!slo_.ttft_s || f.ttft.p99 <= *slo_.ttft_s) &&
                  (!slo_.tpot_s || f.tpot.p99 <= *slo_.tpot_s) && (!slo_.e2e_s || f.e2e.p99 <= *slo_.e2e_s);
    point.drifts = steady && point.meets && Drifts(*found);
    point.meets = point.meets && !point.drifts;
    if (steady && point.meets) CountSteadyPart(*found, options.load, point);
    point.span_s = SpanOf(found->run);
    point.warnings = found->warnings;
    return point;
  }

  // Without the run's start and end, in which fewer requests are under way, as many are answered as come and are not
  // refused.
  static void CountSteadyPart(const ServeAnswer& answer, const serve::Load& load, SearchPoint& point) {
    double tokens = 0;
    for (size_t i = 0; i < answer.run.records.size(); ++i) {
      if (answer.run.records[i].sent >= 0) tokens += static_cast<double>(answer.workload.requests[i].output);
    }
    tokens *= *load.rate / static_cast<double>(*load.requests);
    if (point.cost) point.cost = *point.cost * (answer.figures.tokens_per_s / tokens);
    point.tokens_per_s_per_device = tokens / static_cast<double>(answer.devices);
  }

  // The mean duration by which a server is filled: of the requests that are under way, not of those that come.
  static double SpanOf(const serve::Run& run) {
    double seconds = 0;
    double squares = 0;
    for (const serve::Record& record : run.records) {
      const double each = record.sent < 0 ? 0 : record.last - record.sent;
      seconds += each;
      squares += each * each;
    }
    return seconds > 0 ? squares / seconds : 0;
  }

  // What requests take whatever the lengths of their answers.
  struct Pace {
    double first_s = 0;  // mean time to the first token
    double token_s = 0;  // mean time of each later one
    double Of(double more_tokens) const { return first_s + token_s * more_tokens; }
  };

  static Pace PaceOf(const ServeAnswer& answer, size_t begin, size_t end) {
    Pace sum;
    double requests = 0;
    double tokens = 0;
    for (size_t i = begin; i < end; ++i) {
      const serve::Record& record = answer.run.records[i];
      if (record.sent < 0) continue;
      ++requests;
      tokens += MoreTokens(answer, i);
      sum.first_s += record.first - record.sent;
      sum.token_s += record.last - record.first;
    }
    return {.first_s = sum.first_s / std::max(requests, 1.0), .token_s = sum.token_s / std::max(tokens, 1.0)};
  }

  static double MoreTokens(const ServeAnswer& answer, size_t request) {
    return static_cast<double>(answer.workload.requests[request].output - 1);
  }

  // When the last answer of a server that follows is complete: that is a long one's end as well as the last one's.
  static double ExpectedEnd(const ServeAnswer& answer) {
    const size_t count = answer.run.records.size();
    const Pace pace = PaceOf(answer, 0, count);
    double end = 0;
    for (size_t i = 0; i < count; ++i)
      end = std::max(end, answer.workload.requests[i].arrival + pace.Of(MoreTokens(answer, i)));
    return end;
  }

  // In the last quarter of the requests one of mean length takes much longer than in the second one.
  static bool Drifts(const ServeAnswer& answer) {
    const size_t count = answer.run.records.size();
    double mean = 0;
    for (size_t i = 0; i < count; ++i) mean += MoreTokens(answer, i) / static_cast<double>(count);
    constexpr double kMost = 1.15;  // a queue that grows by a twentieth over three times a request's time
    return PaceOf(answer, count - count / 4, count).Of(mean) > kMost * PaceOf(answer, count / 4, count / 2).Of(mean);
  }

  // Requests/s that an engine saturates at with steps within the limit of a token's time: of n that decode, each step
  // also takes the prompts of those that take the place of the finished ones.
  double Saturation(const Server& server) const {
    const auto input = serve::Length::Parse(options_.load.input);
    const auto output = serve::Length::Parse(options_.load.output);
    if (!input || !output) return 1;
    const double in = input->Mean();
    const double out = std::max(output->Mean(), 1.0);
    double best = 0;
    for (double n = 1; n <= static_cast<double>(server.engine.policy.max_requests); n *= 2) {
      const double prompts = in * n / out;
      serve::StepShape step{.decode_requests = n, .decode_rows = n, .decode_context = n * (in + out / 2)};
      step.prompt_tokens = prompts;
      step.prompt_requests = n / out;
      step.prompt_context = prompts;
      step.prompt_pairs = prompts * in / 2;
      const double seconds = server.steps->CostOf(step).seconds;
      if (slo_.tpot_s && seconds > *slo_.tpot_s) break;
      best = std::max(best, n / out / seconds);
    }
    return best > 0 ? best : 1;
  }

  // The rate is doubled until a limit is missed, or halved until all are kept; then its interval is halved. Rates above
  // the bounds are missed. What is found must hold in the steady part of a longer run; else it is lowered.
  std::optional<SearchPoint> HighestRate(const Candidate& candidate) const {
    ServeOptions options = candidate.part;
    options.give_up = true;
    const int64_t least = options.load.requests.value_or(kRequests);
    const double bound = candidate.bounds.requests_per_s / static_cast<double>(candidate.parts);
    constexpr double kRuns = 3;  // times as long as a request
    double longest = 1;          // request so far, in seconds
    const auto measure = [&](double rate, double runs, bool steady) -> std::optional<SearchPoint> {
      if (rate > bound) return std::nullopt;
      options.load.rate = rate;
      options.load.requests = std::max(least, static_cast<int64_t>(std::min(runs * rate * longest, kMostRequests)));
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
        const bool last = runs > 4 * kSteadyRuns || *options.load.requests >= static_cast<int64_t>(kMostRequests);
        if (last) return point->meets ? point : std::nullopt;
        if (short_run) runs /= 4;
      }
    };
    const auto engines =
        static_cast<double>(std::max(candidate.server.layout.decode, candidate.server.layout.replicas));
    const double low = HighestOf(meets, std::max(kLowest, Saturation(candidate.server) * engines / 2));
    return low > 0 ? HighestSustained(sustained, low) : std::nullopt;
  }

  // From `low`, to a sixteenth of it; 0 where none meets.
  template <typename Meets>
  static double HighestOf(const Meets& meets, double low) {
    constexpr double kHighest = 1e5;
    for (int tries = 0; !meets(low); low /= 2) {
      if (low < kLowest || ++tries > kMostLowered) return 0;
    }
    double high = 2 * low;
    while (high < kHighest && meets(high)) {
      low = high;
      high *= 2;
    }
    for (int i = 0; i < kHalvings; ++i) {
      const double middle = (low + high) / 2;
      (meets(middle) ? low : high) = middle;
    }
    return low;
  }

  // Up to `rate`, which is lowered in growing steps, since short runs may have been far off, and then raised in halves.
  template <typename Sustained>
  static std::optional<SearchPoint> HighestSustained(const Sustained& sustained, double rate) {
    constexpr double kStep = 1.0 / (1 << kHalvings);
    auto best = sustained(rate);
    double high = rate;
    double step = kStep;
    for (int tries = 0; !best; ++tries) {
      if (rate < kLowest || tries > kMostLowered) return std::nullopt;
      high = rate;
      rate *= 1 - step;
      step = std::min(2 * step, 0.5);
      best = sustained(rate);
    }
    while (high - rate > 1.5 * kStep * high) {
      const double middle = (rate + high) / 2;
      const auto point = sustained(middle);
      if (point) best = point;
      (point ? rate : high) = middle;
    }
    return best;
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

// What one table of steps can stand for.
bool HaveEqualSteps(const std::vector<ServeOptions>& candidates) {
  const ServeOptions& first = candidates.front();
  return std::all_of(candidates.begin(), candidates.end(), [&](const ServeOptions& each) {
    return each.device.name == first.device.name && each.weights == first.weights && each.tensor == first.tensor &&
           each.pipeline == first.pipeline;
  });
}

// What makes figures of a point others than they seem, by the first point that it is true of.
void WarnOnce(const std::vector<SearchPoint>& points, Diagnostics& diagnostics) {
  std::set<std::string_view> told;
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
    using Key = std::tuple<std::string, std::string, int64_t, int64_t>;
    std::map<Key, size_t> numbers;
    std::vector<std::vector<size_t>> members;
    for (size_t i = 0; i < candidates.size(); ++i) {
      const ServeOptions& each = candidates[i];
      const Key key{each.device.name, each.weights, each.tensor.value_or(0), each.pipeline.value_or(0)};
      const auto [at, fresh] = numbers.try_emplace(key, members.size());
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
    std::stable_sort(members.begin(), members.end(), [](const Member& a, const Member& b) {
      return a.candidate->bounds.requests_per_s > b.candidate->bounds.requests_per_s;
    });
    const bool highest = members.front().searcher->highest();
    const size_t round_size = highest ? 16 : members.size();
    std::vector<SearchPoint> front;
    size_t dominated = 0;
    for (size_t begin = 0; begin < members.size(); begin += round_size) {
      const size_t end = std::min(begin + round_size, members.size());
      std::map<const Searcher*, std::vector<const Candidate*>> round;
      for (size_t i = begin; i < end; ++i) {
        const Candidate& each = *members[i].candidate;
        const auto output = serve::Length::Parse(each.whole.load.output);
        const bool beaten = std::any_of(front.begin(), front.end(), [&](const SearchPoint& point) {
          return Beats(point, each.bounds, output ? output->Mean() : 0);
        });
        dominated += beaten ? 1 : 0;
        if (!beaten) round[members[i].searcher].push_back(&each);
      }
      const std::vector<std::pair<const Searcher*, std::vector<const Candidate*>>> tasks(round.begin(), round.end());
      OnAllCores(tasks.size(), [&](size_t task) {
        for (const Candidate* each : tasks[task].second) found_[each->number] = tasks[task].first->Points(*each);
      });
      for (const auto& [searcher, each] : tasks) {
        for (const Candidate* candidate : each)
          front.insert(front.end(), found_[candidate->number].begin(), found_[candidate->number].end());
      }
    }
    return highest ? dominated : 0;
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
  if (options.step_table && !HaveEqualSteps(candidates)) {
    diagnostics.Error(kBadServe, "--step-table has the steps of one layout; --search tries several", {},
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
