#include "network/ignored_settings.h"

#include <fmt/format.h>

#include <algorithm>

namespace hespas::network {

using hardware::System;

std::vector<std::string> IgnoredSettings(const System& system) {
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
