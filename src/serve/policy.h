// An engine as the simulation sees it: which requests a step takes, what they hold, and what the host adds.
//
// - Engine profiles (data/serving/*.json) hold these values with their source; there is no code of one engine.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hespas::serve {

enum class Admission : uint8_t { kNeeded, kReserve, kEstimated };  // blocks that a request must find
enum class Preemption : uint8_t { kRecompute, kSwap, kNone };      // of the youngest where none is left
enum class Prompts : uint8_t { kMixed, kFirst, kStatic };  // beside decodes; before them; only where no request runs

// The part of a profile that `--scheduler` names.
struct Scheduler {
  std::string_view name;
  Prompts prompts = Prompts::kMixed;
  bool chunked = true;  // prompts are cut where the budget of tokens ends
  Admission admission = Admission::kNeeded;
  Preemption preemption = Preemption::kRecompute;
};

// "static", "continuous" (Orca), "vllm", "trtllm", "sglang", ...
const std::vector<Scheduler>& Schedulers();
const Scheduler* FindScheduler(std::string_view name);

struct Speculation {
  int64_t drafts = 0;     // tokens guessed ahead of each step
  double acceptance = 0;  // probability that one is right, if those before it were
};

// Host times; all 0 where steps are given as constants.
struct Overheads {
  double step_s = 0;          // between steps: scheduling, input preparation, sampling
  double request_s = 0;       // to schedule and prepare each request of a step
  double ingress_s = 0;       // from the client to the queue: HTTP, tokenising
  double token_s = 0;         // from a step's end to the client: detokenising, sending
  bool asynchronous = false;  // the host prepares a step while the device computes the one before
};

// Layers with sliding windows keep that many tokens of a request.
struct CacheWindow {
  double share = 0;  // of the cache's bytes
  int64_t tokens = 0;
  // Tokens of a cache without windows that take as many bytes.
  int64_t Kept(int64_t length) const {
    return length <= tokens ? length : length - static_cast<int64_t>(share * static_cast<double>(length - tokens));
  }
};

struct Policy {
  Scheduler scheduler;
  int64_t max_tokens = 8192;   // of a step
  int64_t max_requests = 256;  // that run
  int64_t block = 16;          // tokens
  int64_t blocks = 0;          // 0: no limit
  CacheWindow window;
  double output_ratio = 0.7;  // of the outputs still to come that kEstimated reserves at first
  double prefix_hit = 0;      // share of a prompt that is cached
  Speculation speculation;
  Overheads overheads;
  int64_t stages = 1;  // of a pipeline: as many steps are under way
};

}  // namespace hespas::serve
