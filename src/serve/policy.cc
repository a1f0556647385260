#include "serve/policy.h"

#include <algorithm>

namespace hespas::serve {

const std::vector<Scheduler>& Schedulers() {
  // vllm: vllm/v1/core/sched/scheduler.py of 0.11; vllm-v0: core/scheduler.py of 0.7. trtllm: capacity_scheduler_policy
  // GUARANTEED_NO_EVICT (the default) and MAX_UTILIZATION of 1.0, where prompts are cut only with
  // enable_chunked_prefill. sglang: managers/schedule_policy.py of 0.5. continuous: Orca (OSDI 2022).
  static const std::vector<Scheduler> kSchedulers = {
      {.name = "static", .prompts = Prompts::kStatic, .chunked = false, .admission = Admission::kReserve},
      {.name = "continuous", .chunked = false, .admission = Admission::kReserve},
      {.name = "vllm"},
      {.name = "vllm-v0", .prompts = Prompts::kFirst, .chunked = false},
      {.name = "trtllm", .chunked = false, .admission = Admission::kReserve},
      {.name = "trtllm-chunked", .admission = Admission::kReserve},
      {.name = "trtllm-max-utilization", .chunked = false},
      {.name = "sglang", .prompts = Prompts::kFirst, .admission = Admission::kEstimated},
      {.name = "sglang-mixed", .admission = Admission::kEstimated},
  };
  return kSchedulers;
}

const Scheduler* FindScheduler(std::string_view name) {
  const auto& all = Schedulers();
  const auto at = std::find_if(all.begin(), all.end(), [&](const Scheduler& s) { return s.name == name; });
  return at == all.end() ? nullptr : &*at;
}

}  // namespace hespas::serve
