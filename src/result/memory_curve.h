// MemoryCurve: what one device holds while it runs its program once, by category.
//
// - Persistent buffers (arguments, constants, results in buffers of their own) are held throughout.
// - A point holds from its `start` until the next one's; loops show one iteration, stretched over all of them.
// - Sizes are those of allocations: every buffer is rounded up to the allocator's alignment.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostic.h"
#include "base/units.h"

namespace hespas::result {

// clang-format off
enum class MemoryCategory : uint8_t {
  kParameters, kOptimiserState, kInputs, kGradients, kActivations, kTemporaries, kCommunication, kOutputs
};
// clang-format on
inline constexpr std::array<std::string_view, 8> kMemoryCategoryNames = {
    "parameters", "optimiser state", "inputs", "gradients", "activations", "temporaries", "communication", "outputs"};

using BytesByCategory = std::array<Bytes, kMemoryCategoryNames.size()>;

struct MemoryPoint {
  Time start;
  BytesByCategory held{};

  Bytes total() const {
    Bytes sum;
    for (const Bytes bytes : held) sum += bytes;
    return sum;
  }
};

struct LiveTensor {
  std::string name;  // "stablehlo.dot_general tensor<8x128xf32>", or "argument 3 tensor<...>"
  Bytes bytes;
  MemoryCategory category = MemoryCategory::kTemporaries;
  Location location;   // in the program
  std::string source;  // of the framework's program, where that is recorded: "layers.py:88"
  Time from;           // when it is made and when it is used last
  Time until;
};

// From `at` on a layer of the framework's program holds `bytes` more (or less) of what its operations made.
struct LayerChange {
  Time at;
  uint32_t layer = 0;  // of MemoryCurve::layers
  Bytes bytes;
};

struct MemoryCurve {
  Bytes peak;
  Time peak_at;
  Bytes arguments;  // donated ones included
  Bytes outputs;    // results, those in buffers of donated arguments included
  Bytes aliased;    // of them, what is in buffers of donated arguments
  Bytes temporaries;
  Bytes constants;
  BytesByCategory at_peak{};
  std::vector<MemoryPoint> points;         // in order of time
  std::vector<LiveTensor> largest;         // alive at the peak, largest first
  std::vector<std::string> layers;         // where asked for, in the order in which they first hold something
  std::vector<LayerChange> layer_changes;  // in order of time; arguments belong to no layer
};

}  // namespace hespas::result
