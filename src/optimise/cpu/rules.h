// Every threshold of the CPU policy, each with its source.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hespas::optimise::cpu_rules {

// XLA fusion_node_indexing_evaluation.cc: kAllowedCodeDuplication, evaluations of one op for an element of the loop.
inline constexpr int64_t kMostEvaluations = 15;
// Bound on our own time: ops that are looked at on paths from a producer to its consumer.
inline constexpr size_t kLongestSearch = 256;

}  // namespace hespas::optimise::cpu_rules
