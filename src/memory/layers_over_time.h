// What the layers of the framework's program hold over time, as changes of each.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "memory/liveness.h"
#include "result/memory_curve.h"

namespace hespas::memory {

class LayersOverTime {
 public:
  LayersOverTime(const ir::Module& module, const std::function<std::string(ir::OpId)>& layer)
      : module_(module), layer_(layer) {}

  // `until`: when the buffer is free again; nothing: what outlives the step.
  void Add(const Interval& interval, Time from, std::optional<Time> until);
  // Fills `layers` and `layer_changes`.
  void Finish(result::MemoryCurve& curve) const;

 private:
  // Of the op that makes the value; -1: none has a name.
  int64_t LayerOf(ir::ValueId value);

  const ir::Module& module_;
  const std::function<std::string(ir::OpId)>& layer_;
  std::unordered_map<uint32_t, int64_t> of_op_;
  std::unordered_map<std::string, int64_t> numbers_;
  std::vector<std::string> names_;
  std::map<std::pair<Time, int64_t>, Bytes> changes_;
};

}  // namespace hespas::memory
