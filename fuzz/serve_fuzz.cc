// Links: serve
// A trace of requests behind a line of numbers for the engine: any text is read or refused, what runs comes to an end,
// every request is answered or refused, and none waits for ever where requests can give up their blocks.
#include <algorithm>
#include <cstdlib>
#include <string>

#include "input_file.h"
#include "serve/cluster.h"
#include "serve/metrics.h"

namespace {

using namespace hespas::serve;

// The next number of the line, from `least` to `most`.
int64_t Next(const char*& text, int64_t least, int64_t most) {
  char* end = nullptr;
  const long long value = std::strtoll(text, &end, 10);
  text = end;
  return std::clamp<int64_t>(value, least, most);
}

Policy PolicyOf(const char*& line) {
  Policy policy{.scheduler = Schedulers()[static_cast<size_t>(Next(line, 0, 100)) % Schedulers().size()]};
  policy.scheduler.admission = static_cast<Admission>(Next(line, 0, 2));
  policy.scheduler.preemption = static_cast<Preemption>(Next(line, 0, 2));
  policy.max_tokens = Next(line, 1, 10'000);
  policy.max_requests = Next(line, 1, 1'000);
  policy.block = Next(line, 1, 64);
  policy.blocks = Next(line, 0, 10'000);
  policy.prefix_hit = static_cast<double>(Next(line, 0, 100)) / 100;
  policy.speculation = {.drafts = Next(line, 0, 8), .acceptance = static_cast<double>(Next(line, 0, 100)) / 100};
  policy.stages = Next(line, 1, 8);
  policy.overheads.asynchronous = Next(line, 0, 1) == 1;
  return policy;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const uint8_t* const end = std::find(data, data + size, '\n');
  if (end == data + size) return 0;
  const std::string first(data, end);
  const char* line = first.c_str();
  ServerOptions options{.policy = PolicyOf(line), .replicas = Next(line, 1, 4)};
  if (const int64_t prefill = Next(line, 0, 3); prefill > 0)
    options.disaggregation = {.prefill = prefill, .decode = Next(line, 1, 3), .transfer_s_per_token = 1e-6};
  const hespas::fuzz::InputFile file(end + 1, static_cast<size_t>(data + size - end - 1));
  auto requests = ReadTrace(file.path(), "");
  if (!requests) return hespas::Render(requests.error()).empty() ? 1 : 0;
  constexpr int64_t kTokens = 2'000;  // of a request, so that a run is short
  for (Request& request : *requests) {
    request.input = std::min(request.input, kTokens);
    request.output = std::min(request.output, kTokens / 10);
  }
  requests->resize(std::min<size_t>(requests->size(), 50));
  const Workload workload{.requests = *requests, .clients = {}};
  LinearStepModel steps;
  steps.a = 1e-3;
  steps.p = 1e-5;
  options.steps = &steps;
  const auto run = Simulate(workload, options);
  if (!run) {  // no request can go on
    if (options.policy.scheduler.preemption != Preemption::kNone) __builtin_trap();
    return 0;
  }
  const Figures figures = FiguresOf(*run, workload, 0, {}, 1);
  if (figures.answered + run->refused != static_cast<int64_t>(workload.requests.size())) __builtin_trap();
  return 0;
}
