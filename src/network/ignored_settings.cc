#include "network/ignored_settings.h"

#include <fmt/format.h>

#include <algorithm>

#include "hardware/system_reader.h"

namespace hespas::network {

using hardware::System;

namespace {

// Of a file that states no settings.
bool HasDefaultSettings(const System& system) {
  System defaults{.dimensions = system.dimensions};
  hardware::SetDefaultSettings(defaults);
  bool equal = system.optimization == defaults.optimization && system.endpoint_delay == defaults.endpoint_delay &&
               system.dataset_splits == defaults.dataset_splits;
  for (size_t i = 0; i < hardware::kNativeCollectives; ++i)
    equal &= system.collectives[i].algorithms == defaults.collectives[i].algorithms;
  return equal;
}

}  // namespace

std::vector<std::string> IgnoredSettings(const System& system) {
  if (HasDefaultSettings(system)) return {};
  static constexpr const char* kCollectives[] = {"all-reduce", "all-gather", "reduce-scatter", "all-to-all"};
  const System usual;
  std::vector<std::string> keys;
  const auto add = [&](bool differs, std::string key) {
    if (differs) keys.push_back(std::move(key));
  };
  add(system.scheduling != usual.scheduling, "scheduling-policy");
  add(system.optimization != usual.optimization, "collective-optimization");
  add(system.endpoint_delay.has_value(), "endpoint-delay");
  add(system.local_reduction_delay != usual.local_reduction_delay, "local-reduction-delay");
  add(system.active_chunks != usual.active_chunks, "active-chunks-per-dimension");
  add(system.dataset_splits != usual.dataset_splits, "preferred-dataset-splits");
  add(system.bus.enabled, "model-shared-bus");
  for (size_t i = 0; i < hardware::kNativeCollectives; ++i) {
    add(system.collectives[i].algorithms.has_value(), fmt::format("{}-implementation", kCollectives[i]));
    add(!system.collectives[i].custom.empty(), fmt::format("{}-implementation-custom", kCollectives[i]));
  }
  add(!system.custom_of_node.empty(), "per-node-custom-implementation");
  return keys;
}

}  // namespace hespas::network
