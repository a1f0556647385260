#include "sweep/run_sweep.h"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <thread>

#include "sweep/evaluator.h"

namespace hespas::sweep {
namespace {

unsigned ThreadsOf(unsigned asked) { return asked > 0 ? asked : std::max(1u, std::thread::hardware_concurrency()); }

class Runner {
 public:
  Runner(const SweepFile& file, const Points& points, const SweepOptions& options)
      : file_(file), points_(points), options_(options), next_(options.first) {
    end_ = std::min(options.end, points.size());
    counts_.points = end_ > options.first ? end_ - options.first : 0;
    if (options.lines != nullptr) options.lines->assign(counts_.points, {});
  }

  Result<RunCounts> Run() {
    if (options_.progress != nullptr) options_.progress->Begin("points", counts_.points);
    const size_t count = std::min<size_t>(ThreadsOf(options_.threads), std::max<size_t>(1, counts_.points));
    std::vector<std::thread> others;
    for (size_t i = 1; i < count; ++i) others.emplace_back([this] { Work(); });
    Work();
    for (std::thread& thread : others) thread.join();
    if (options_.store != nullptr && failure_.ok()) failure_ = options_.store->Flush();
    if (!failure_) return failure_.error();
    return counts_;
  }

 private:
  bool Stopped() const { return options_.stop != nullptr && options_.stop->load(std::memory_order_relaxed); }

  void Work() {
    Scratch scratch;
    while (true) {
      if (Stopped() || broken_.load()) break;
      const size_t i = next_.fetch_add(1);
      if (i >= end_) return;
      if (options_.store != nullptr && options_.store->Has(points_.NumberOf(i))) {
        Count([](RunCounts& counts) { ++counts.known; });
        continue;
      }
      AnswerPoint(i, scratch);
    }
    Count([this](RunCounts& counts) { counts.stopped = next_.load() < end_; });
  }

  void AnswerPoint(size_t i, Scratch& scratch) {
    Row row{.point = points_.NumberOf(i), .settings = points_.ValuesOf(i)};
    const driver::RunOptions options = OptionsOfPoint(file_, row.settings, reader_, row);
    if (row.error.empty()) evaluator_.Evaluate(options, scratch, row);
    std::string line = JsonLine(row, file_.economy);
    if (options_.store != nullptr) {
      if (Status added = options_.store->Add(line); !added) return Break(std::move(added));
    }
    if (options_.lines != nullptr) (*options_.lines)[i - options_.first] = std::move(line);
    Count([&](RunCounts& counts) {
      ++counts.done;
      if (!row.error.empty()) ++counts.failed;
    });
  }

  template <class Change>
  void Count(Change change) {
    const std::lock_guard lock(mutex_);
    change(counts_);
    if (options_.progress != nullptr) options_.progress->Done(counts_.done + counts_.known);
  }

  void Break(Status failure) {
    const std::lock_guard lock(mutex_);
    failure_ = std::move(failure);
    broken_ = true;
  }

  const SweepFile& file_;
  const Points& points_;
  const SweepOptions& options_;
  size_t end_ = 0;
  std::atomic<size_t> next_;
  std::atomic<bool> broken_ = false;
  SettingsReader reader_;
  Evaluator evaluator_;
  std::mutex mutex_;
  RunCounts counts_;
  Status failure_;
};

}  // namespace

driver::RunOptions OptionsOfPoint(const SweepFile& file, const Settings& values, SettingsReader& reader, Row& row) {
  Settings all = file.base;
  all.insert(all.end(), values.begin(), values.end());
  auto options = reader.OptionsOf(all);
  if (options && !options->program.path.empty()) return *std::move(options);
  const Error error = options ? MakeError(kBadSetting, "the point names no `program`") : options.error();
  row.error = error.kind->code;
  row.message = error.message;
  return {};
}

Result<RunCounts> RunPoints(const SweepFile& file, const Points& points, const SweepOptions& options) {
  return Runner(file, points, options).Run();
}

CostEstimate EstimateCost(const SweepFile& file, const Points& points, unsigned threads) {
  using Clock = std::chrono::steady_clock;
  constexpr size_t kMostMeasured = 200;
  constexpr double kLongest = 2;
  SettingsReader reader;
  Evaluator evaluator;
  Scratch scratch;
  const size_t wanted = std::min(points.size(), kMostMeasured);
  const auto start = Clock::now();
  const auto elapsed = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
  CostEstimate cost{.points = points.size(), .threads = ThreadsOf(threads)};
  double first = 0;  // reading and optimising, mostly
  while (cost.measured < wanted && elapsed() < kLongest) {
    Row row{.settings = points.ValuesOf(cost.measured * points.size() / wanted)};
    const driver::RunOptions options = OptionsOfPoint(file, row.settings, reader, row);
    if (row.error.empty()) evaluator.Evaluate(options, scratch, row);
    if (cost.measured++ == 0) first = elapsed();
  }
  const double others = cost.measured > 1 ? (elapsed() - first) / static_cast<double>(cost.measured - 1) : first;
  cost.seconds = first + others * static_cast<double>(points.size() - 1) / cost.threads;
  return cost;
}

}  // namespace hespas::sweep
