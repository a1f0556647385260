#include "engines/sst/endpoint.h"

#include <algorithm>

namespace hespas::engines {

Status Endpoint::Start(const trace::TraceGraph& trace, const hardware::System& system,
                       const simulate::SimulateOptions& options, uint32_t rank) {
  workload_ = std::make_unique<simulate::HostedWorkload>(trace, system, options, *this,
                                                         simulate::RankRange{.first = rank, .count = 1});
  Status started = workload_->Start();
  if (started) SendPackets();
  return started;
}

void Endpoint::After(uint64_t delay, Callback callback) {
  const uint64_t due = now_ + delay;
  agenda_.Add(due, std::move(callback));
  if (running_ || due >= wake_) return;
  wake_ = due;
  ports_.WakeAfter(delay);
}

void Endpoint::Send(const simulate::MatchKey& message, Callback arrived) {
  outgoing_.push_back(
      {.next = {.message = message, .number = messages_++}, .left = message.size, .sent = std::move(arrived)});
  if (!running_) SendPackets();
}

void Endpoint::Wake() {
  now_ = ports_.Now();
  RunDue();
}

void Endpoint::RoomCame() {
  now_ = ports_.Now();
  SendPackets();
  RunDue();
}

void Endpoint::Receive(const Packet& packet) {
  now_ = ports_.Now();
  const auto [at, is_new] = incoming_.try_emplace({packet.message.source, packet.number}, packet.message.size);
  at->second -= std::min<uint64_t>(at->second, packet.bytes);
  if (at->second > 0) return;
  incoming_.erase(at);
  agenda_.Add(now_, [this, message = packet.message] { workload_->Deliver(message); });
  RunDue();
}

// Wakes that come too early do no harm.
void Endpoint::RunDue() {
  running_ = true;
  do {
    while (!agenda_.empty() && agenda_.first() <= now_) agenda_.TakeFirst()();
    SendPackets();
  } while (!agenda_.empty() && agenda_.first() <= now_);
  running_ = false;
  wake_ = ~uint64_t{0};
  if (agenda_.empty()) return;
  wake_ = agenda_.first();
  ports_.WakeAfter(wake_ - now_);
}

void Endpoint::SendPackets() {
  while (!outgoing_.empty()) {
    Outgoing& first = outgoing_.front();
    first.next.bytes = static_cast<uint32_t>(std::min<uint64_t>(first.left, packet_bytes_));
    if (!ports_.HasRoomFor(first.next.bytes)) return;
    ports_.Send(first.next);
    first.left -= first.next.bytes;
    if (first.left > 0) continue;
    After(0, std::move(first.sent));
    outgoing_.pop_front();
  }
}

}  // namespace hespas::engines
