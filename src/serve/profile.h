// Engine profiles: data/serving/engines/NAME.json or a file of the user. What an engine does by default, with its
// version and source.
#pragma once

#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "serve/model/all_reduces.h"
#include "serve/model/precision.h"
#include "serve/policy.h"

namespace hespas::serve {

inline constexpr DiagnosticKind kUnknownEngine{
    "E0717",
    "An engine is one of the profiles in data/serving/engines (vllm, "
    "vllm-0.7, trtllm, trtllm-0.11, trtllm-0.5, sglang) or the path of such a file.",
    Outcome::kUsage};

// What a share of the memory stands for.
enum class MemoryRule : uint8_t {
  kTotal,   // all that the engine takes: weights, workspace and cache
  kStatic,  // weights and cache; the workspace takes what is beside them
  kLeft     // the cache, of what weights and workspace leave
};

// Steps that are captured: a step takes as long as the next captured one. Kernels of others are launched one by one.
struct Graphs {
  std::vector<double> sizes;  // rows, ascending
  bool mixed = false;         // of steps with prompts too
  double layer_s = 0;         // of the host, to launch a layer's kernels
};

// What measured rows differ from the answers by, kernels apart: relative, one standard deviation.
struct EngineErrors {
  double step = 0;
  double first_token = 0;
};

struct EngineProfile {
  std::string name;
  std::string version;
  std::string source;
  Policy policy;
  MemoryRule memory_rule = MemoryRule::kTotal;
  double memory_fraction = 0.9;
  double reserved_bytes = 0;      // context, libraries and captured graphs
  double rotation_bytes = 0;      // of an element of the table of rotations
  double large_memory_bytes = 0;  // of a device, from which the second pair of limits counts
  int64_t large_max_tokens = 0;
  int64_t large_max_requests = 0;
  bool limits_of_rank = false;          // each data-parallel rank of experts has the policy's limits, else all together
  bool fp8_cache_of_quantised = false;  // with 8 or 4-bit weights the cache is fp8 unless told
  bool eager = false;                   // steps beyond captured ones run as written: no compiler frees what is not read
  bool windows = false;                 // layers with sliding windows free what lies before them
  bool quantises_apart = false;         // fp8 activations in kernels of their own
  Exchange exchange = Exchange::kChosen;
  bool rotating_attention = false;  // TensorRT-LLM's attention, which rotates and writes the cache; else FlashAttention
  bool ungrouped_attention = false;  // decodes by masked multi-head attention: no kernel for grouped queries
  bool gate_apart = false;           // gate and up projections are matmuls of their own
  bool fp8_prompts = false;          // attention of prompts multiplies in 8 bits, where weights and cache have them
  AllReduces all_reduces;
  Graphs graphs;
  EngineErrors errors;
};

// `folder` is that of the shipped profiles.
std::optional<EngineProfile> LoadEngine(const std::string& name_or_path, const std::string& folder,
                                        Diagnostics& diagnostics);

}  // namespace hespas::serve
