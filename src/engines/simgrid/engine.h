// Messages as flows in SimGrid: flows that share a link share its bandwidth (max-min fair).
//
// - No actors: SimGrid's maestro runs timers and reports flows as they end.
// - The network model is CM02 without TCP's factors: a lone message takes latency + bytes / bandwidth. Latencies are
//   waited for here, before the flow, since SimGrid gives flows of longer latency less of a shared link, as TCP does.
//   With `network/model` among the settings all is SimGrid's.
// - One engine a process: SimGrid has one for a process, and cannot be started again.
#pragma once

#include <memory>
#include <simgrid/s4u.hpp>
#include <string>
#include <unordered_map>
#include <vector>

#include "simulate/engine/flow_engine.h"
#include "simulate/engine/queue/callback_agenda.h"

namespace hespas::engines {

class Engine : public simulate::FlowEngine {
 public:
  // Aborts where SimGrid does not like the platform or a setting.
  explicit Engine(const simulate::FlowNetwork& network);

  uint64_t Now() const override { return now_; }
  void After(uint64_t delay, Callback callback) override;
  void Send(const simulate::MatchKey& message, Callback arrived) override;
  Status Run() override;
  std::vector<result::LinkUse> Links() const override;
  std::vector<std::string> Hosts() const override;
  void Place(const std::vector<uint32_t>& hosts) override;

 private:
  using Link = simgrid::s4u::Link;
  struct Flow {
    simgrid::s4u::CommPtr comm;
    Callback arrived;
  };
  struct Route {
    uint64_t latency = 0;         // ticks
    std::vector<uint32_t> links;  // into links_, where they are counted
  };

  void TakeLatencies();
  const Route& RouteOf(uint32_t source, uint32_t destination);
  void Transfer(const simulate::MatchKey& message, Callback arrived);
  void Ended(const simgrid::s4u::Comm& comm);
  void WakeAt(uint64_t tick);
  void RunDue();
  double Seconds(uint64_t tick) const;
  uint64_t Tick() const;  // of SimGrid's clock

  simulate::FlowNetwork network_;
  std::unique_ptr<simgrid::s4u::Engine> simgrid_;
  std::vector<simgrid::s4u::Host*> hosts_;
  std::vector<simgrid::s4u::Host*> host_of_rank_;
  std::unordered_map<const Link*, double> latencies_;  // seconds
  std::unordered_map<const Link*, uint32_t> link_numbers_;
  std::vector<result::LinkUse> links_;
  std::vector<double> bandwidths_;
  std::unordered_map<uint64_t, Route> routes_;
  simulate::CallbackAgenda agenda_;
  simulate::Pool<Flow> flows_;
  std::vector<uint32_t> ended_;  // flows that SimGrid may still look at until it runs timers again
  uint64_t now_ = 0;
  uint64_t wake_ = ~uint64_t{0};
  bool own_latencies_ = true;
  std::string failure_;
};

}  // namespace hespas::engines
