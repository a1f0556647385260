// The workload of one NPU over a network that carries packets: what SST's component is made of, without SST.
//
// - A message goes as packets of at most `packet_bytes` and has arrived with its last byte, in whatever order they
// come.
//   Its sender counts it as sent when the last packet has left.
// - Times are picoseconds.
#pragma once

#include <deque>
#include <map>
#include <utility>

#include "simulate/engine/message_engine.h"
#include "simulate/engine/queue/callback_agenda.h"

namespace hespas::engines {

struct Packet {
  simulate::MatchKey message;
  uint64_t number = 0;  // of the message among those of its source
  uint32_t bytes = 0;
};

// What the endpoint needs of its surroundings.
class Ports {
 public:
  virtual ~Ports() = default;
  virtual uint64_t Now() const = 0;
  virtual void WakeAfter(uint64_t delay) = 0;  // Endpoint::Wake then
  virtual bool HasRoomFor(uint32_t bytes) = 0;
  virtual void Send(const Packet& packet) = 0;
};

class Endpoint : public simulate::MessageEngine {
 public:
  Endpoint(Ports& ports, uint32_t packet_bytes) : ports_(ports), packet_bytes_(packet_bytes) {}

  // Starts `rank`'s part of the trace, at time 0. The inputs outlive the endpoint.
  Status Start(const trace::TraceGraph& trace, const hardware::System& system, const simulate::SimulateOptions& options,
               uint32_t rank);
  void Wake();
  void RoomCame();
  void Receive(const Packet& packet);
  bool done() const { return workload_ == nullptr || workload_->done(); }
  // What the rank did, or why it cannot finish.
  Result<result::SimResult> Finish() { return workload_->Finish(); }

  uint64_t Now() const override { return now_; }
  void After(uint64_t delay, Callback callback) override;
  void Send(const simulate::MatchKey& message, Callback arrived) override;

 private:
  struct Outgoing {
    Packet next;
    uint64_t left = 0;  // bytes
    Callback sent;
  };

  void RunDue();
  void SendPackets();

  Ports& ports_;
  uint32_t packet_bytes_;
  std::unique_ptr<simulate::HostedWorkload> workload_;
  simulate::CallbackAgenda agenda_;
  std::deque<Outgoing> outgoing_;
  std::map<std::pair<uint32_t, uint64_t>, uint64_t> incoming_;  // bytes still to come, by source and number
  uint64_t messages_ = 0;
  uint64_t now_ = 0;
  uint64_t wake_ = ~uint64_t{0};
  bool running_ = false;
};

}  // namespace hespas::engines
