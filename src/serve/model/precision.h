// How weights, activations and cached keys and values are stored, and what matmuls compute in.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/block_floats.h"

namespace hespas::serve {

enum class WeightFormat : uint8_t { kBf16, kFp8, kFp8Block, kNvfp4, kMxfp4, kInt4, kInt8 };

// Bytes with scales: fp8-block has a float for each 128 x 128, mxfp8 a byte for 32 elements, int4 a 16-bit scale and
// zero point for 128 (AWQ, GPTQ).
struct WeightFormatFacts {
  std::string_view name;
  std::string_view activations;  // that matmuls compute in
  double weight_bytes;
  double activation_bytes;
  bool quantises;             // activations by a kernel of its own in all engines
  bool experts_only = false;  // gpt-oss: attention, router, embedding and head stay in 16 bits
};
inline constexpr std::array<WeightFormatFacts, 7> kWeightFormats = {
    {{"bf16", "bf16", 2, 2, false},
     {"fp8", "fp8", 1, 1, false},
     {"fp8-block", "fp8", 1 + 4.0 / 16384, 1, true},
     {"nvfp4", "nvfp4", kNvFp4Bytes, kNvFp4Bytes, true},
     {"mxfp4", "mxfp8", kMxFp4Bytes, 1 + 1.0 / 32, false, true},
     {"int4", "bf16", 0.5 + 3.0 / 128, 2, false},
     {"int8", "int8", 1, 1, true}}};

inline const WeightFormatFacts& FactsOf(WeightFormat format) { return kWeightFormats[static_cast<size_t>(format)]; }
std::optional<WeightFormat> WeightFormatOf(std::string_view name);

enum class CacheFormat : uint8_t { kBf16, kFp8, kInt8, kNvfp4 };

// Of keys and values; bytes with scales.
struct CacheFormatFacts {
  std::string_view name;
  double bytes;
};
inline constexpr std::array<CacheFormatFacts, 4> kCacheFormats = {
    {{"bf16", 2}, {"fp8", 1}, {"int8", 1}, {"nvfp4", kNvFp4Bytes}}};

std::optional<CacheFormat> CacheFormatOf(std::string_view name);

// How tokens reach experts of data-parallel ranks.
enum class Exchange : uint8_t {
  kChosen,           // all-to-alls of those that a rank's experts were chosen for
  kGather,           // all ranks gather all tokens in 16 bits, and sum
  kGatherQuantised,  // the same, quantised before unless by the experts' own kernels
};

struct Precision {
  WeightFormat weights = WeightFormat::kBf16;
  CacheFormat cache = CacheFormat::kBf16;
  bool gate_apart = false;           // gate and up projections are matmuls of their own
  bool ungrouped_attention = false;  // decodes read keys and values once for each query head
  bool rotating_attention = false;   // kernels of attention rotate, and write keys and values, themselves
  bool fp8_prompts = false;          // attention of prompts multiplies in 8 bits, where weights and cache have them
  Exchange exchange = Exchange::kChosen;
  bool eager = false;            // functions hold what they have named until they return
  bool quantises_apart = false;  // fp8 activations in kernels of their own; else fused with those before
  const CacheFormatFacts& cache_facts() const { return kCacheFormats[static_cast<size_t>(cache)]; }
  double cache_bytes() const { return cache_facts().bytes; }
};

struct Parallelism {
  int64_t tensor = 1;
  int64_t pipeline = 1;
  int64_t expert = 1;
  int64_t data = 1;  // replicas; with experts spread over them, ranks in lock step
};

}  // namespace hespas::serve
