#include "serve/serving.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <tuple>

#include "serve/load/random.h"
#include "serve/overload.h"

namespace hespas::serve {
namespace {

struct Pending {
  double arrival = 0;
  double prompt = 1;
  double tokens = 1;  // to produce; a fraction of a token takes that fraction of a step
  double started = 0;
  double first = -1;
  double done = 0;
  double produced = 0;
};

Percentiles Summarise(std::vector<double> values) {
  Percentiles out;
  if (values.empty()) return out;
  std::sort(values.begin(), values.end());
  // Nearest rank.
  const auto at = [&](double share) {
    const auto rank = static_cast<size_t>(std::ceil(share * static_cast<double>(values.size())));
    return values[std::max<size_t>(rank, 1) - 1];
  };
  double sum = 0;
  for (const double value : values) sum += value;
  out = {
      .mean = sum / static_cast<double>(values.size()), .p50 = at(.5), .p90 = at(.9), .p95 = at(.95), .p99 = at(.99)};
  return out;
}

class Server {
 public:
  Server(const StepTimes& prefill, const StepTimes& decode, const ServingOptions& options,
         std::vector<Pending> requests)
      : prefill_(prefill), decode_(decode), options_(options), requests_(std::move(requests)) {}

  ServingEstimate Run() {
    while (finished_ < requests_.size()) {
      if (active_.empty() && waiting_.empty()) now_ = std::max(now_, requests_[next_].arrival);
      Arrive();
      Admit();
      Decode();
    }
    return Figures();
  }

 private:
  void Arrive() {
    while (next_ < requests_.size() && requests_[next_].arrival <= now_) waiting_.push_back(next_++);
  }

  void Admit() {
    const size_t before = active_.size();
    double longest = 0;
    while (!waiting_.empty() && active_.size() < static_cast<size_t>(options_.max_batch)) {
      Pending& request = requests_[waiting_.front()];
      request.started = now_;
      longest = std::max(longest, request.prompt);
      active_.push_back(waiting_.front());
      waiting_.pop_front();
    }
    if (active_.size() == before || prefill_.empty()) return;
    const double seconds = TimeOf(prefill_, static_cast<double>(active_.size() - before), longest);
    now_ += seconds;
    busy_ += seconds;
  }

  double TimeOf(const StepTimes& times, double batch, double context) {
    beyond_table_ = beyond_table_ || times.EndsBefore(batch, context);
    return times.At(batch, context);
  }

  void Decode() {
    double context = 0;
    double share = 1;  // of a step; less only where every request needs less than a token
    double most = 0;
    for (const size_t i : active_) {
      context += requests_[i].prompt + requests_[i].produced;
      most = std::max(most, requests_[i].tokens - requests_[i].produced);
    }
    share = std::min(share, most);
    const auto batch = static_cast<double>(active_.size());
    const double seconds = share * TimeOf(decode_, batch, context / batch);
    now_ += seconds;
    busy_ += seconds;
    ++steps_;
    batches_ += batch;
    std::vector<size_t> left;
    for (const size_t i : active_) {
      Pending& request = requests_[i];
      request.produced += 1;
      if (request.first < 0) request.first = now_;
      if (request.produced >= request.tokens) {
        request.done = now_;
        ++finished_;
      } else {
        left.push_back(i);
      }
    }
    active_ = std::move(left);
  }

  ServingEstimate Figures() const {
    std::vector<double> latency;
    std::vector<double> wait;
    std::vector<double> first;
    std::vector<double> per_token;
    double tokens = 0;
    for (size_t i = static_cast<size_t>(options_.warm_up); i < requests_.size(); ++i) {
      const Pending& r = requests_[i];
      latency.push_back(r.done - r.arrival);
      wait.push_back(r.started - r.arrival);
      first.push_back(r.first - r.arrival);
      if (r.tokens > 1) per_token.push_back((r.done - r.first) / (r.tokens - 1));
    }
    for (const Pending& r : requests_) tokens += r.tokens;
    const double span = now_ - requests_.front().arrival;
    ServingEstimate out{.latency = Summarise(std::move(latency)),
                        .wait = Summarise(std::move(wait)),
                        .first_token = Summarise(std::move(first)),
                        .per_token = Summarise(std::move(per_token))};
    out.requests_per_second = span > 0 ? static_cast<double>(requests_.size()) / span : 0;
    out.tokens_per_second = span > 0 ? tokens / span : 0;
    out.utilisation = span > 0 ? busy_ / span : 0;
    out.mean_batch = batches_ / static_cast<double>(std::max<int64_t>(steps_, 1));
    out.beyond_table = beyond_table_;
    out.overloaded = OverloadOf(Records(), options_.rate).has_value();
    return out;
  }

  std::vector<Record> Records() const {
    std::vector<Record> records;
    for (const Pending& r : requests_)
      records.push_back({.sent = r.arrival, .admitted = r.started, .first = r.first, .last = r.done});
    return records;
  }

  const StepTimes& prefill_;
  const StepTimes& decode_;
  const ServingOptions& options_;
  std::vector<Pending> requests_;
  std::deque<size_t> waiting_;
  std::vector<size_t> active_;
  size_t next_ = 0;  // to arrive
  size_t finished_ = 0;
  double now_ = 0;
  double busy_ = 0;
  double batches_ = 0;
  int64_t steps_ = 0;
  bool beyond_table_ = false;
};

Error BadServing(std::string message) {
  return MakeError(kBadServing, std::move(message), {},
                   "for example --rate 10 --prompt 512 --output geometric:128 --max-batch 32");
}

Result<std::vector<Pending>> MakeRequests(const ServingOptions& options) {
  const auto prompt = Length::Parse(options.prompt);
  const auto output = Length::Parse(options.output);
  if (!prompt) return BadServing(fmt::format("--prompt: `{}` is no length", options.prompt));
  if (!output) return BadServing(fmt::format("--output: `{}` is no length", options.output));
  // A stream for each, so that one option does not change what another draws.
  Random arrivals(options.seed * 3);
  Random prompts(options.seed * 3 + 1);
  Random outputs(options.seed * 3 + 2);
  std::vector<Pending> requests;
  double now = 0;
  for (int64_t i = 0; i < options.requests; ++i) {
    now += options.regular ? 1 / options.rate : -std::log1p(-arrivals.Uniform()) / options.rate;
    requests.push_back(
        {.arrival = now, .prompt = prompt->Draw(prompts.Uniform()), .tokens = output->Draw(outputs.Uniform())});
  }
  return requests;
}

}  // namespace

void StepTimes::Add(double batch, double context, double seconds) {
  points_.push_back({batch, context, seconds});
  std::stable_sort(points_.begin(), points_.end(), [](const Point& a, const Point& b) {
    return std::tuple(a.batch, a.context) < std::tuple(b.batch, b.context);
  });
}

double StepTimes::AlongContext(size_t begin, size_t end, double context) const {
  size_t at = begin;
  while (at < end && points_[at].context < context) ++at;
  if (at == begin) return points_[begin].seconds;
  if (at == end) return points_[end - 1].seconds;
  const Point& low = points_[at - 1];
  const Point& high = points_[at];
  return low.seconds + (high.seconds - low.seconds) * (context - low.context) / (high.context - low.context);
}

bool StepTimes::EndsBefore(double batch, double context) const {
  if (points_.empty()) return false;
  const auto [shortest, longest] = std::minmax_element(
      points_.begin(), points_.end(), [](const Point& a, const Point& b) { return a.context < b.context; });
  const double smallest = points_.front().batch;
  const double largest = points_.back().batch;
  return (smallest < largest && batch > largest) ||
         (shortest->context < longest->context && context > longest->context);
}

double StepTimes::At(double batch, double context) const {
  // Rows of one batch are adjacent.
  double last_batch = 0;
  double last = 0;
  for (size_t begin = 0; begin < points_.size();) {
    size_t end = begin;
    while (end < points_.size() && points_[end].batch == points_[begin].batch) ++end;
    const double here = AlongContext(begin, end, context);
    const double at = points_[begin].batch;
    if (at >= batch) return begin == 0 ? here : last + (here - last) * (batch - last_batch) / (at - last_batch);
    last = here;
    last_batch = at;
    begin = end;
  }
  return last;
}

Status CheckDecodes(const StepTimes& decode, Location where) {
  if (!decode.empty()) return {};
  return MakeError(kBadStepTable, "the table has no row of a decode step", std::move(where), kStepTableHelp);
}

Result<ServingEstimate> Serve(const StepTimes& prefill, const StepTimes& decode, const ServingOptions& options) {
  constexpr int64_t kMostRequests = 10'000'000;
  if (!(options.rate > 0) || !std::isfinite(options.rate)) return BadServing("the request rate must be above 0");
  if (options.max_batch < 1) return BadServing("at least one request must fit into a batch");
  if (options.requests < 1 || options.requests > kMostRequests)
    return BadServing("between 1 and 10,000,000 requests can be simulated");
  if (options.warm_up < 0 || options.warm_up >= options.requests)
    return BadServing("the warm-up must be shorter than the run");
  if (const Status usable = CheckDecodes(decode); !usable) return usable.error();
  auto requests = MakeRequests(options);
  if (!requests) return requests.error();
  return Server(prefill, decode, options, std::move(*requests)).Run();
}

}  // namespace hespas::serve
