#include "serve/overload.h"

#include <algorithm>
#include <cmath>

namespace hespas::serve {
namespace {

constexpr size_t kFewest = 100;        // requests of a run that tells
constexpr size_t kFewestAnswers = 32;  // while a queue lasts: their number is known to about a sixth, 1 / sqrt(32)
constexpr double kLeastGrowth = 0.05;

struct Sample {
  double mean = 0;
  double variation = 0;  // squared coefficient
};

// Of `of` each index from `begin` on.
template <typename Of>
Sample SampleOf(size_t begin, size_t end, const Of& of) {
  const auto count = static_cast<double>(end - begin);
  double sum = 0;
  double squares = 0;
  for (size_t i = begin; i < end; ++i) {
    const double each = of(i);
    sum += each;
    squares += each * each;
  }
  const double mean = sum / count;
  return {.mean = mean, .variation = mean > 0 ? std::max(0.0, squares / count / mean / mean - 1) : 0};
}

double Waited(const Record& record) {
  return record.admitted - record.sent + (record.resumed < 0 ? 0 : record.resumed - record.first);
}

double Served(const Record& record) { return record.last - record.sent - Waited(record); }

// Begin of the step that takes the request out of the last queue that it waits in.
double Left(const Record& record) { return std::max(record.admitted, record.resumed); }

double Growth(const std::vector<Record>& records) {
  const size_t quarter = records.size() / 4;
  const auto later = [&](const auto& of) {
    return SampleOf(records.size() - quarter, records.size(), of).mean - SampleOf(quarter, 2 * quarter, of).mean;
  };
  return later([&](size_t i) { return Waited(records[i]); }) / later([&](size_t i) { return records[i].sent; });
}

// Standard deviation of the work that comes in a half of the run, relative.
double Chance(const std::vector<Record>& records) {
  const Sample gaps = SampleOf(1, records.size(), [&](size_t i) { return records[i].sent - records[i - 1].sent; });
  const Sample served = SampleOf(0, records.size(), [&](size_t i) { return Served(records[i]); });
  return std::sqrt((gaps.variation + served.variation) / (static_cast<double>(records.size()) / 2));
}

// From the later half of the time since the last request that found none waiting.
std::optional<double> AnswersPerS(const std::vector<Record>& records) {
  double begin = 0;
  double end = 0;
  for (const Record& record : records) {
    if (end <= record.sent) begin = record.sent;
    end = std::max(end, Left(record));
  }
  const double middle = (begin + end) / 2;
  const auto answers = static_cast<size_t>(std::count_if(records.begin(), records.end(), [&](const Record& record) {
    return record.last > middle && record.last <= end;
  }));
  if (answers < kFewestAnswers) return std::nullopt;
  return static_cast<double>(answers) / (end - middle);
}

}  // namespace

std::optional<Overload> OverloadOf(const std::vector<Record>& records, std::optional<double> rate) {
  if (records.size() < kFewest || records[records.size() / 2].sent >= records.back().sent) return std::nullopt;
  if (Growth(records) <= std::max(kLeastGrowth, 2 * Chance(records))) return std::nullopt;
  const auto answered = AnswersPerS(records);
  const double came = static_cast<double>(records.size() - 1) / (records.back().sent - records.front().sent);
  const double arrive = rate.value_or(came);
  if (!answered || *answered >= arrive) return std::nullopt;
  return Overload{.arrive_per_s = arrive, .answered_per_s = *answered};
}

}  // namespace hespas::serve
