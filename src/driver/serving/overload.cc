#include "driver/serving/overload.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace hespas::driver {

bool Overloaded(const std::vector<Diagnostic>& warnings) {
  return std::any_of(warnings.begin(), warnings.end(), [](const Diagnostic& each) { return each.kind == &kOverload; });
}

std::optional<serve::Overload> OverloadOf(const serve::Workload& workload, const serve::Run& run,
                                          std::optional<double> rate) {
  if (workload.clients) return std::nullopt;
  if (run.refused == 0) return serve::OverloadOf(run.records, rate);
  std::vector<serve::Record> answered;
  std::copy_if(run.records.begin(), run.records.end(), std::back_inserter(answered),
               [](const serve::Record& record) { return record.sent >= 0; });
  return serve::OverloadOf(answered, rate);
}

std::optional<serve::Overload> BeyondSteps(const Server& server, const serve::Workload& workload, const serve::Run& run,
                                           double rate) {
  if (!std::isfinite(rate) || workload.requests.empty() || workload.requests.back().arrival > run.wall / 2)
    return std::nullopt;
  const serve::Policy& policy = server.engine.policy;
  double tokens = 0;
  for (const serve::Request& request : workload.requests) {
    const double computed = std::max(1.0, (1 - policy.prefix_hit) * static_cast<double>(request.input));
    tokens += computed + static_cast<double>(request.output - 1);
  }
  const auto rows_each = static_cast<double>(1 + policy.speculation.drafts);
  const double slots = static_cast<double>(policy.max_requests) * rows_each;
  const double rows = static_cast<double>(policy.max_tokens + workload.Longest()) + slots;
  const double row_s =
      server.steps->Floors({.rows_each = rows_each, .rows = rows, .sampled_rows = slots}).row_s * tokens;
  const auto steps = static_cast<double>(server.engines() * policy.stages);  // at a time
  const double most = steps * static_cast<double>(workload.requests.size()) / row_s;
  if (!(row_s > 0) || rate <= most) return std::nullopt;
  return serve::Overload{.arrive_per_s = rate, .answered_per_s = most, .at_most = true};
}

}  // namespace hespas::driver
