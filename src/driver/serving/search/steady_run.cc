#include "driver/serving/search/steady_run.h"

#include <algorithm>

namespace hespas::driver {
namespace {

double MoreTokens(const ServeAnswer& answer, size_t request) {
  return static_cast<double>(answer.workload.requests[request].output - 1);
}

// What requests take whatever the lengths of their answers.
struct Pace {
  double first_s = 0;  // mean time to the first token
  double token_s = 0;  // mean time of each later one
  double Of(double more_tokens) const { return first_s + token_s * more_tokens; }
};

Pace PaceOf(const ServeAnswer& answer, size_t begin, size_t end) {
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

// When the last answer of a server that follows is complete: that is a long one's end as well as the last one's.
double ExpectedEnd(const ServeAnswer& answer) {
  const size_t count = answer.run.records.size();
  const Pace pace = PaceOf(answer, 0, count);
  double end = 0;
  for (size_t i = 0; i < count; ++i)
    end = std::max(end, answer.workload.requests[i].arrival + pace.Of(MoreTokens(answer, i)));
  return end;
}

}  // namespace

bool Follows(const ServeAnswer& answer) {
  constexpr double kDrain = 1.15;  // of the time of arrivals and one request, until all are answered
  return answer.run.wall <= kDrain * ExpectedEnd(answer);
}

bool Drifts(const ServeAnswer& answer) {
  const size_t count = answer.run.records.size();
  double mean = 0;
  for (size_t i = 0; i < count; ++i) mean += MoreTokens(answer, i) / static_cast<double>(count);
  constexpr double kMost = 1.15;  // a queue that grows by a twentieth over three times a request's time
  return PaceOf(answer, count - count / 4, count).Of(mean) > kMost * PaceOf(answer, count / 4, count / 2).Of(mean);
}

double SpanOf(const serve::Run& run) {
  double seconds = 0;
  double squares = 0;
  for (const serve::Record& record : run.records) {
    const double each = record.sent < 0 ? 0 : record.last - record.sent;
    seconds += each;
    squares += each * each;
  }
  return seconds > 0 ? squares / seconds : 0;
}

double SteadyTokensPerS(const ServeAnswer& answer, const serve::Load& load) {
  double tokens = 0;
  for (size_t i = 0; i < answer.run.records.size(); ++i) {
    if (answer.run.records[i].sent >= 0) tokens += static_cast<double>(answer.workload.requests[i].output);
  }
  return tokens * (*load.rate / static_cast<double>(*load.requests));
}

}  // namespace hespas::driver
