// ASTRA-sim's price of a collective: one node, simulated with its own algorithms, chunks and scheduling.
//
// - Latency is what is left with links of no transmission time; a level's wire time is what its bandwidth is worth.
#pragma once

#include "hardware/system.h"
#include "network/collective_model.h"

namespace hespas::network {

class AstraSimModel : public CollectiveModel {
 public:
  explicit AstraSimModel(const hardware::System& system) : system_(system) {}

  std::string_view name() const override { return "plain"; }
  // Zero where ASTRA-sim cannot run the collective.
  Price PriceOf(const trace::Node& node, std::span<const uint32_t> members) const override;

 private:
  Time TimeOf(const trace::Node& node, std::span<const uint32_t> members, const hardware::System& system) const;

  hardware::System system_;
};

}  // namespace hespas::network
