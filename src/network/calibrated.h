// The calibrated model of collectives: the system's own bandwidths and latencies, and what libraries achieve of them.
//
// - time = launch + hops x (software + the link's latency) + wire + ramp, or the start of NCCL's protocol instead
//   of the ramp; docs/simulation.md has the terms.
// - Levels overlap: a collective over nested levels is a pipeline of chunks, whose wire time is that of its slowest
//   level and the others' first chunk, and never more than one level after the other.
// - What a device's own `calibration` says of collectives was fitted with a rendezvous of hosts and does not
//   count here.
#pragma once

#include <span>

#include "base/diagnostic.h"
#include "hardware/device.h"
#include "hardware/links/link_faults.h"
#include "hardware/system.h"
#include "network/collective_model.h"
#include "network/levels.h"
#include "network/link_constants.h"
#include "network/nccl_tuning.h"

namespace hespas::network {

inline constexpr DiagnosticKind kAssumedHosts{
    "W0909",
    "Slices of TPUs meet through their hosts, which pass only a part of what their adapters could. That part is known "
    "for devices whose reference network is known; others are taken to pass what hosts with 200 Gbit/s do. Give the "
    "dimension between slices the bandwidth that makes the part come out right, or name the device as the one that it "
    "resembles."};

struct CollectiveSize {
  Operation op = Operation::kAllReduce;
  double bytes = 0;  // full, unsharded buffer; of a permute one message
  bool reducible_in_switch = true;
};

class CalibratedModel : public CollectiveModel {
 public:
  // All must outlive the model.
  CalibratedModel(const hardware::Device& device, const hardware::System& system, const NetworkConstants& constants,
                  std::vector<hardware::LinkFault> faults = {});

  std::string_view name() const override { return "calibrated"; }
  Price PriceOf(const trace::Node& node, std::span<const uint32_t> members) const override;
  Price PriceOf(const CollectiveSize& size, std::span<const uint32_t> members) const;
  // What a library would choose among; the cheapest is the price.
  std::vector<Price> ChoicesFor(const CollectiveSize& wanted, std::span<const uint32_t> members) const;
  // Of a collective's node; a message has two members.
  static CollectiveSize SizeOf(const trace::Node& node, size_t members);
  double sigma() const { return links_.sigma; }  // of a price, relative
  // Says what is taken for granted where the vendor's hosts are not known.
  void WarnOfAssumptions(Diagnostics& diagnostics) const;
  uint32_t Holds(const trace::Node& node, std::span<const uint32_t> members) const override;
  uint32_t Links(const trace::Node& node, std::span<const uint32_t> members) const override;

 private:
  struct Choice {
    std::string_view algorithm;
    bool tree = false;  // between hosts
    bool flat = false;  // of no level alone: one ring through all
    OperationConstants constants;
    std::optional<Protocol> protocol;  // of rings within a host of NVIDIA's GPUs
  };
  Price With(const Choice& choice, const CollectiveSize& size, const std::vector<Level>& levels) const;
  LevelPrice OnLevel(const Choice& choice, const CollectiveSize& size, const std::vector<Level>& levels,
                     size_t at) const;
  double TimesPassed(const Choice& choice, const CollectiveSize& size, const std::vector<Level>& levels,
                     size_t at) const;
  std::string_view NameOf(const CollectiveSize& size, const Level& inner) const;
  Choice InHost(const CollectiveSize& size, const std::vector<Level>& levels) const;
  bool FollowsNccl(const CollectiveSize& size, const std::vector<Level>& levels) const;
  double StartOf(const Choice& choice, const CollectiveSize& size, const std::vector<Level>& levels) const;
  // byte/us of all links of a rank
  double Rate(const Choice& choice, const CollectiveSize& size, const Level& level) const;
  double SwitchTraffic(const CollectiveSize& size, const Level& level) const;
  double OwnPart(const Choice& choice, const CollectiveSize& size, const std::vector<Level>& levels) const;
  OperationConstants ConstantsOf(Operation op) const;
  bool IsPcie() const;
  bool IsTpu() const { return device_.family == "tpu"; }
  bool IsOuter(const Level& level) const;
  const OuterConstants& OuterOf(const Level& level) const;
  bool PassesSockets(const std::vector<Level>& levels) const;
  bool ReducesInSwitch(const CollectiveSize& size, const Level& level) const;

  const hardware::Device& device_;
  const hardware::System& system_;
  const NetworkConstants& constants_;
  std::vector<hardware::LinkFault> faults_;
  const LinkConstants& links_;
  const LinkConstants& launch_;
  const ExpectedLink& expected_;
  OuterConstants data_centre_;
  double clock_;  // per us
};

}  // namespace hespas::network
