// What clients of a run saw, as vLLM's benchmark client defines it (benchmarks/serve.py of 0.11).
//
// - Time to first token counts from sending; time per output token is (end to end - first token) / (tokens - 1) of a
//   request, without requests of one token; inter-token latency pools all gaps. Percentiles interpolate linearly.
#pragma once

#include <optional>

#include "serve/cluster.h"

namespace hespas::serve {

struct Distribution {
  double mean = 0;
  double p50 = 0;
  double p90 = 0;
  double p95 = 0;
  double p99 = 0;
};

// Limits that a good answer keeps.
struct Slo {
  std::optional<double> ttft_s;
  std::optional<double> tpot_s;
  std::optional<double> e2e_s;
};

struct Figures {
  Distribution ttft;
  Distribution tpot;
  Distribution itl;
  Distribution e2e;
  Distribution queue;  // from sending to the first step
  double requests_per_s = 0;
  double tokens_per_s = 0;  // output
  double tokens_per_s_per_user = 0;
  double good_per_s = 0;
  double mean_batch = 0;
  double mean_requests = 0;  // in the system
  double utilisation = 0;    // share of the time in which engines compute
  int64_t answered = 0;
};

Figures FiguresOf(const Run& run, const Workload& workload, int64_t warm_up, const Slo& slo, int64_t engines);

Distribution DistributionOf(std::vector<double> values);

}  // namespace hespas::serve
