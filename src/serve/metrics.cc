#include "serve/metrics.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace hespas::serve {
namespace {

constexpr double kShares[] = {.5, .9, .95, .99};

// Each value as often as its gap has tokens.
Distribution DistributionOfGaps(std::vector<Gap> gaps) {
  Distribution out;
  std::sort(gaps.begin(), gaps.end(), [](const Gap& a, const Gap& b) { return a.seconds < b.seconds; });
  std::vector<uint64_t> up_to;  // tokens in this gap and all shorter ones
  uint64_t count = 0;
  double sum = 0;
  for (const Gap& gap : gaps) {
    sum += static_cast<double>(gap.seconds) * gap.tokens;
    up_to.push_back(count += gap.tokens);
  }
  if (count == 0) return out;
  const auto value = [&](uint64_t rank) {
    const auto at = std::upper_bound(up_to.begin(), up_to.end(), std::min(rank, count - 1)) - up_to.begin();
    return static_cast<double>(gaps[static_cast<size_t>(at)].seconds);
  };
  out.mean = sum / static_cast<double>(count);
  double* const at[] = {&out.p50, &out.p90, &out.p95, &out.p99};
  for (size_t i = 0; i < std::size(kShares); ++i) {
    const double rank = kShares[i] * static_cast<double>(count - 1);
    const auto low = static_cast<uint64_t>(rank);
    *at[i] = value(low) + (rank - static_cast<double>(low)) * (value(low + 1) - value(low));
  }
  return out;
}

bool Good(const Record& record, double tpot, const Slo& slo) {
  return (!slo.ttft_s || record.first - record.sent <= *slo.ttft_s) && (!slo.tpot_s || tpot <= *slo.tpot_s) &&
         (!slo.e2e_s || record.last - record.sent <= *slo.e2e_s);
}

}  // namespace

Distribution DistributionOf(std::vector<double> values) {
  Distribution out;
  if (values.empty()) return out;
  std::sort(values.begin(), values.end());
  const auto at = [&](double share) {
    const double rank = share * static_cast<double>(values.size() - 1);
    const auto low = static_cast<size_t>(rank);
    const size_t high = std::min(low + 1, values.size() - 1);
    return values[low] + (rank - static_cast<double>(low)) * (values[high] - values[low]);
  };
  out.mean = std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  out.p50 = at(kShares[0]);
  out.p90 = at(kShares[1]);
  out.p95 = at(kShares[2]);
  out.p99 = at(kShares[3]);
  return out;
}

Figures FiguresOf(const Run& run, const Workload& workload, int64_t warm_up, const Slo& slo, int64_t engines) {
  std::vector<double> ttft;
  std::vector<double> tpot;
  std::vector<double> e2e;
  std::vector<double> queue;
  Figures out;
  double tokens = 0;
  double good = 0;
  for (size_t i = 0; i < run.records.size(); ++i) {
    const Record& record = run.records[i];
    if (record.sent < 0) continue;
    ++out.answered;
    const auto produced = static_cast<double>(workload.requests[i].output);
    tokens += produced;
    const double each = produced > 1 ? (record.last - record.first) / (produced - 1) : 0;
    good += Good(record, each, slo) ? 1 : 0;
    if (i < static_cast<size_t>(warm_up)) continue;
    ttft.push_back(record.first - record.sent);
    if (produced > 1) tpot.push_back(each);
    e2e.push_back(record.last - record.sent);
    queue.push_back(record.admitted - record.sent);
  }
  out.ttft = DistributionOf(std::move(ttft));
  out.tpot = DistributionOf(std::move(tpot));
  out.e2e = DistributionOf(std::move(e2e));
  out.queue = DistributionOf(std::move(queue));
  out.itl = DistributionOfGaps(run.gaps);
  const double wall = run.wall > 0 ? run.wall : 1;
  out.requests_per_s = static_cast<double>(out.answered) / wall;
  out.tokens_per_s = tokens / wall;
  out.good_per_s = good / wall;
  out.tokens_per_s_per_user = out.tpot.mean > 0 ? 1 / out.tpot.mean : 0;
  out.mean_batch = run.counts.decode_steps > 0 ? run.counts.decode_requests / run.counts.decode_steps : 0;
  out.mean_requests = run.requests_seconds / wall;
  out.utilisation = run.counts.busy_s / (wall * static_cast<double>(engines));
  return out;
}

}  // namespace hespas::serve
