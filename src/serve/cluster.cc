#include "serve/cluster.h"

#include <algorithm>
#include <queue>
#include <tuple>

namespace hespas::serve {
namespace {

// A job that reaches a pool of engines at a time.
struct Coming {
  double time = 0;
  int64_t order = 0;
  Job job;
  bool operator>(const Coming& other) const { return std::tie(time, order) > std::tie(other.time, other.order); }
};
constexpr size_t kStepsKept = 200;
using Queue = std::priority_queue<Coming, std::vector<Coming>, std::greater<>>;

class Pool {
 public:
  Pool(const Policy& policy, const StepModel& steps, int64_t engines, uint64_t seed) : pipelined_(policy.stages > 1) {
    for (int64_t i = 0; i < engines; ++i) engines_.emplace_back(policy, steps, seed + static_cast<uint64_t>(i));
    ends_.assign(engines_.size(), kNever);
  }
  // Round robin.
  void Submit(const Job& job) { engines_[next_++ % engines_.size()].Submit(job); }
  double NextEnd() const {
    double next = kNever;
    for (const double end : ends_) next = std::min(next, end);
    return next;
  }
  // When an engine whose first stage is busy could begin another step.
  double NextStart(double now) const {
    double next = kNever;
    if (!pipelined_) return next;
    for (const Replica& engine : engines_) {
      if (engine.NextStart() > now && engine.HasWork()) next = std::min(next, engine.NextStart());
    }
    return next;
  }
  // Ends a step of each engine that is due; gives what they deliver to `take`.
  template <typename Take>
  void End(double now, std::vector<Delivery>& delivered, Take take) {
    for (size_t i = 0; i < engines_.size(); ++i) {
      while (ends_[i] <= now) {
        delivered.clear();
        engines_[i].Finish(now, delivered);
        ends_[i] = engines_[i].NextEnd();
        for (const Delivery& delivery : delivered) take(delivery);
      }
    }
  }
  // Begins a step of each engine that has one; gives engine and lane to `take`.
  template <typename Take>
  void Begin(double now, Take take) {
    for (size_t i = 0; i < engines_.size(); ++i) {
      const Lane* const lane = engines_[i].Start(now);
      if (lane == nullptr) continue;
      ends_[i] = engines_[i].NextEnd();
      take(engines_[i], *lane);
    }
  }
  const std::vector<Replica>& engines() const { return engines_; }

 private:
  std::vector<Replica> engines_;
  std::vector<double> ends_;  // of each engine's oldest step
  bool pipelined_;            // a step may begin while others of its engine are under way
  size_t next_ = 0;
};

class Simulation {
 public:
  Simulation(const Workload& workload, const ServerOptions& options)
      : workload_(workload),
        options_(options),
        records_(workload.requests.size(), Record{.sent = -1, .first = -1}),
        missed_(workload.requests.size(), 0) {
    const Disaggregation& apart = options.disaggregation;
    const int64_t fronts = apart.prefill > 0 ? apart.prefill : options.replicas;
    pools_.emplace_back(options.policy, *options.steps, fronts, options.seed * 1'000'003);
    if (apart.prefill > 0) {
      Policy decode = options.policy;
      decode.overheads.ingress_s = 0;
      pools_.emplace_back(decode, *options.steps, apart.decode, options.seed * 1'000'003 + 1'000);
    }
  }

  Result<Run> Go() {
    const size_t at_once = workload_.clients ? static_cast<size_t>(*workload_.clients) : workload_.requests.size();
    if (workload_.clients) {
      for (size_t i = 0; i < std::min(at_once, workload_.requests.size()); ++i) Send(0);
    }
    while (misses_ <= options_.patience.misses && (open_ > 0 || next_ < workload_.requests.size())) {
      const double now = NextTime();
      if (now == kNever) return MakeError(kStuck, "no request can go on", {}, "use --preemption recompute");
      in_system_seconds_ += static_cast<double>(open_) * (now - now_);
      now_ = now;
      CountLate();
      Arrive();
      End();
      Arrive();  // of clients whose answer just came
      Begin();
    }
    return Figures();
  }

 private:
  bool apart() const { return pools_.size() > 1; }
  bool open_loop() const { return !workload_.clients; }

  double NextTime() const {
    double next = arrivals_.empty() ? kNever : arrivals_.top().time;
    if (!transfers_.empty()) next = std::min(next, transfers_.top().time);
    if (open_loop() && next_ < workload_.requests.size()) next = std::min(next, workload_.requests[next_].arrival);
    for (const Pool& pool : pools_) next = std::min({next, pool.NextEnd(), pool.NextStart(now_)});
    return std::max(next, now_);
  }

  // The next request leaves its client.
  void Send(double now) {
    const auto index = static_cast<int32_t>(next_++);
    const Request& request = workload_.requests[static_cast<size_t>(index)];
    const Policy& policy = options_.policy;
    const auto block = static_cast<double>(policy.block);
    const double left = std::ceil((1 - policy.prefix_hit) * static_cast<double>(request.input) / block) * block;
    const int64_t computed = std::clamp<int64_t>(static_cast<int64_t>(left), 1, request.input);
    Job job{.request = index, .input = request.input, .output = request.output};
    if (policy.prefix_hit > 0) job.shared = job.computed = request.input - computed;
    records_[static_cast<size_t>(index)].sent = now;
    ++open_;
    if (!Fits(job)) return Refuse(index);
    arrivals_.push({.time = now + OnGrid(policy.overheads.ingress_s), .order = order_++, .job = job});
  }

  // The engines that decode hold all of a request: no prefix of theirs is shared.
  bool Fits(const Job& job) const {
    if (!pools_.front().engines().front().Fits(job)) return false;
    const Job moved{.request = job.request, .input = job.input, .output = job.output};
    return !apart() || pools_.back().engines().front().Fits(moved);
  }

  void Refuse(int32_t index) {
    records_[static_cast<size_t>(index)].sent = -1;
    ++refused_;
    --open_;
    if (workload_.clients && next_ < workload_.requests.size()) Send(now_);
  }

  void Arrive() {
    while (open_loop() && next_ < workload_.requests.size() && workload_.requests[next_].arrival <= now_) Send(now_);
    for (; !arrivals_.empty() && arrivals_.top().time <= now_; arrivals_.pop()) {
      Job job = arrivals_.top().job;
      if (apart()) job.output = 1;
      pools_.front().Submit(job);
    }
    for (; !transfers_.empty() && transfers_.top().time <= now_; transfers_.pop())
      pools_.back().Submit(transfers_.top().job);
  }

  void End() {
    for (size_t p = 0; p < pools_.size(); ++p)
      pools_[p].End(now_, delivered_, [&](const Delivery& delivery) { Deliver(delivery, apart() && p == 0); });
  }

  void Deliver(const Delivery& delivery, bool prefilled) {
    const double out = OnGrid(options_.policy.overheads.token_s);
    const double at_client = now_ + out;
    if (delivery.seen != kUnseen) AddGaps(static_cast<float>(at_client - (delivery.seen + out)), delivery.gaps);
    if (delivery.request == Delivery::kSeveral) return;
    const auto index = static_cast<size_t>(delivery.request);
    const Request& request = workload_.requests[index];
    Record& record = records_[index];
    if (delivery.seen == kUnseen) record.first = at_client;
    const bool last = delivery.finished && (!prefilled || request.output == 1);
    if (last) {
      record.last = at_client;
      wall_ = std::max(wall_, at_client);
      --open_;
      if (Misses(record, request)) Miss(index);
      if (workload_.clients && next_ < workload_.requests.size()) Send(at_client);
    } else if (prefilled && delivery.finished) {
      const double seconds = OnGrid(options_.disaggregation.transfer_s_per_token * static_cast<double>(request.input));
      transfers_.push({.time = now_ + seconds,
                       .order = order_++,
                       .job = {.request = delivery.request,
                               .input = request.input,
                               .output = request.output,
                               .produced = 1,
                               .computed = request.input,
                               .seen = now_}});
    }
  }

  void Miss(size_t request) {
    if (missed_[request] == 0) ++misses_;
    missed_[request] = 1;
  }

  // Those that have waited too long for their first token miss their limits whenever they are answered.
  void CountLate() {
    for (; late_ < next_ && now_ - records_[late_].sent > options_.patience.ttft_s; ++late_) {
      const Record& record = records_[late_];
      if (record.sent >= 0 && record.first < 0) Miss(late_);
    }
  }

  bool Misses(const Record& record, const Request& request) const {
    const Patience& patience = options_.patience;
    const auto more = static_cast<double>(request.output - 1);
    return record.first - record.sent > patience.ttft_s || record.last - record.sent > patience.e2e_s ||
           record.last - record.first > patience.tpot_s * more;
  }

  void AddGaps(float seconds, int64_t tokens) {
    if (tokens == 0) return;
    if (gaps_.empty() || gaps_.back().seconds != seconds) gaps_.push_back({.seconds = seconds});
    gaps_.back().tokens += static_cast<uint32_t>(tokens);
  }

  void Begin() {
    for (size_t p = 0; p < pools_.size(); ++p) {
      double Record::*const began = p == 0 ? &Record::admitted : &Record::resumed;
      pools_[p].Begin(now_, [&](const Replica& engine, const Lane& lane) {
        if (options_.record && steps_.size() < kStepsKept) steps_.push_back(engine.last_step());
        for (const int32_t request : lane.admitted()) {
          double& admitted = records_[static_cast<size_t>(request)].*began;
          if (admitted < 0) admitted = now_;
        }
      });
    }
    if (options_.record) Note();
  }

  void Note() {
    Moment moment{.time = now_};
    for (const Pool& pool : pools_) {
      for (const Replica& engine : pool.engines()) {
        moment.running += static_cast<double>(engine.running());
        moment.waiting += static_cast<double>(engine.waiting());
        if (options_.policy.blocks > 0)
          moment.blocks_used += static_cast<double>(options_.policy.blocks - engine.free_blocks());
      }
    }
    timeline_.push_back(moment);
  }

  Run Figures() {
    Run run{.records = std::move(records_),
            .gaps = std::move(gaps_),
            .timeline = std::move(timeline_),
            .steps = std::move(steps_)};
    for (const Pool& pool : pools_) {
      for (const Replica& engine : pool.engines()) Sum(engine.counts(), run.counts);
    }
    run.wall = wall_;
    run.requests_seconds = in_system_seconds_;
    run.refused = refused_;
    run.given_up = misses_ > options_.patience.misses;
    return run;
  }

  static void Sum(const ReplicaCounts& one, ReplicaCounts& all) {
    all.steps += one.steps;
    all.preemptions += one.preemptions;
    all.computed_tokens += one.computed_tokens;
    all.decode_steps += one.decode_steps;
    all.decode_requests += one.decode_requests;
    all.busy_s += one.busy_s;
    for (size_t i = 0; i < kParts; ++i) all.parts[i] += one.parts[i];
  }

  const Workload& workload_;
  const ServerOptions& options_;
  std::vector<Pool> pools_;
  Queue arrivals_;
  Queue transfers_;
  std::vector<Record> records_;
  std::vector<char> missed_;  // of each request: a limit
  std::vector<Gap> gaps_;
  std::vector<Moment> timeline_;
  std::vector<StepRecord> steps_;
  std::vector<Delivery> delivered_;
  size_t next_ = 0;    // request to send
  size_t late_ = 0;    // request that has not waited longer than patience lasts
  int64_t open_ = 0;   // requests sent and not answered
  int64_t order_ = 0;  // of events
  int64_t refused_ = 0;
  int64_t misses_ = 0;  // of limits
  double now_ = 0;
  double wall_ = 0;
  double in_system_seconds_ = 0;
};

}  // namespace

Result<Run> Simulate(const Workload& workload, const ServerOptions& options) {
  return Simulation(workload, options).Go();
}

}  // namespace hespas::serve
