#include "driver/serving/overload.h"

#include <algorithm>
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

}  // namespace hespas::driver
