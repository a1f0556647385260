#include "memory/layers_over_time.h"

namespace hespas::memory {

int64_t LayersOverTime::LayerOf(ir::ValueId value) {
  const ir::OpId op = module_.defining_op(value);
  if (!op.valid()) return -1;
  const auto [known, is_new] = of_op_.try_emplace(op.value, -1);
  if (!is_new) return known->second;
  const std::string name = layer_(op);
  if (name.empty()) return -1;
  const auto [number, is_first] = numbers_.try_emplace(name, static_cast<int64_t>(names_.size()));
  if (is_first) names_.push_back(name);
  return known->second = number->second;
}

void LayersOverTime::Add(const Interval& interval, Time from, std::optional<Time> until) {
  const int64_t layer = interval.bytes > 0 ? LayerOf(interval.value) : -1;
  if (layer < 0) return;
  changes_[{from, layer}] += Bytes(interval.bytes);
  if (until) changes_[{*until, layer}] += Bytes(-interval.bytes);
}

void LayersOverTime::Finish(result::MemoryCurve& curve) const {
  std::vector<int64_t> place(names_.size(), -1);
  for (const auto& [key, bytes] : changes_) {
    if (bytes.value == 0) continue;
    const auto [at, layer] = key;
    int64_t& number = place[static_cast<size_t>(layer)];
    if (number < 0) {
      number = static_cast<int64_t>(curve.layers.size());
      curve.layers.push_back(names_[static_cast<size_t>(layer)]);
    }
    curve.layer_changes.push_back({.at = at, .layer = static_cast<uint32_t>(number), .bytes = bytes});
  }
}

}  // namespace hespas::memory
