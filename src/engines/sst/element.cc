// SST's component `hespas.endpoint`: one NPU, its packets over Merlin's SimpleNetwork. Everything else: endpoint.h.
#include <sst/core/component.h>
#include <sst/core/event.h>
#include <sst/core/interfaces/simpleNetwork.h>
#include <sst/core/link.h>
#include <sst/core/output.h>
#include <sst/core/params.h>

#include <memory>
#include <optional>
#include <string>

#include "engines/sst/endpoint.h"
#include "engines/sst_run.h"

namespace hespas::engines {

using SST::Interfaces::SimpleNetwork;

class PacketEvent : public SST::Event {
 public:
  PacketEvent() = default;
  explicit PacketEvent(const Packet& what) : packet(what) {}
  SST::Event* clone() override { return new PacketEvent(*this); }
  void serialize_order(SST::Core::Serialization::serializer& ser) override {
    SST::Event::serialize_order(ser);
    SST_SER(packet.message.size);
    SST_SER(packet.message.tag);
    SST_SER(packet.message.source);
    SST_SER(packet.message.destination);
    SST_SER(packet.number);
    SST_SER(packet.bytes);
  }

  Packet packet;
  ImplementSerializable(hespas::packet::PacketEvent)
};

class Npu : public SST::Component, public Ports {
 public:
  SST_ELI_REGISTER_COMPONENT(Npu, "hespas", "endpoint", SST_ELI_ELEMENT_VERSION(1, 0, 0),
                             "An NPU that runs its part of a Chakra trace", COMPONENT_CATEGORY_PROCESSOR)
  SST_ELI_DOCUMENT_PARAMS({"rank", "number of the NPU", "0"}, {"run", "run.json that hespas wrote", ""},
                          {"packet_bytes", "most bytes of a packet", "512"})
  SST_ELI_DOCUMENT_SUBCOMPONENT_SLOTS({"networkIF", "the network", "SST::Interfaces::SimpleNetwork"})

  Npu(SST::ComponentId_t id, SST::Params& params)
      : SST::Component(id),
        rank_(params.find<uint32_t>("rank", 0)),
        file_(params.find<std::string>("run", "")),
        endpoint_(*this, params.find<uint32_t>("packet_bytes", 512)) {
    network_ = loadUserSubComponent<SimpleNetwork>("networkIF", SST::ComponentInfo::SHARE_NONE, 1);
    if (network_ == nullptr) Stop("the slot networkIF is empty");
    network_->setNotifyOnReceive(new SimpleNetwork::Handler<Npu, &Npu::OnReceive>(this));
    network_->setNotifyOnSend(new SimpleNetwork::Handler<Npu, &Npu::OnSend>(this));
    timer_ = configureSelfLink("timer", "1ps", new SST::Event::Handler<Npu, &Npu::OnTimer>(this));
    registerAsPrimaryComponent();
    primaryComponentDoNotEndSim();
  }

  void init(unsigned int phase) override { network_->init(phase); }
  void complete(unsigned int phase) override { network_->complete(phase); }
  void setup() override {
    network_->setup();
    timer_->send(0, nullptr);  // the network can be used when time runs
  }
  void finish() override {
    network_->finish();
    if (hespas::Status written = run_->WriteResult(rank_, endpoint_.Finish()); !written) Stop(written.error().message);
  }

  uint64_t Now() const override { return getCurrentSimTime("1ps"); }
  void WakeAfter(uint64_t delay) override { timer_->send(delay, nullptr); }
  bool HasRoomFor(uint32_t bytes) override { return network_->spaceToSend(0, static_cast<int>(bytes * 8)); }
  void Send(const Packet& packet) override {
    auto* request = new SimpleNetwork::Request(packet.message.destination, rank_, size_t{packet.bytes} * 8, true, true);
    request->givePayload(new PacketEvent(packet));
    if (!network_->send(request, 0)) Stop("the network takes no packet although it has room");
  }

 private:
  void OnTimer(SST::Event*) {
    if (!run_) return Begin();
    endpoint_.Wake();
    CheckDone();
  }
  bool OnSend(int) {
    if (run_) endpoint_.RoomCame();
    CheckDone();
    return true;
  }
  bool OnReceive(int) {
    if (!run_) Begin();
    while (SimpleNetwork::Request* request = network_->recv(0)) {
      const std::unique_ptr<SST::Event> event(request->takePayload());
      delete request;
      endpoint_.Receive(static_cast<PacketEvent&>(*event).packet);
    }
    CheckDone();
    return true;
  }
  void Begin() {
    Result<engines::SstRun> run = engines::ReadSstRun(file_);
    if (!run) Stop(run.error().message);
    run_.emplace(*std::move(run));
    if (hespas::Status started = endpoint_.Start(run_->inputs->trace, run_->inputs->system, run_->options, rank_);
        !started)
      Stop(started.error().message);
    CheckDone();
  }
  // Once; messages to others may still be under way, but those wait for them.
  void CheckDone() {
    if (ended_ || !run_ || !endpoint_.done()) return;
    ended_ = true;
    primaryComponentOKToEndSim();
  }
  [[noreturn]] void Stop(const std::string& why) {
    getSimulationOutput().fatal(CALL_INFO, 1, "hespas.endpoint %u: %s\n", rank_, why.c_str());
    std::abort();
  }

  uint32_t rank_;
  std::string file_;
  Endpoint endpoint_;
  std::optional<engines::SstRun> run_;
  SimpleNetwork* network_ = nullptr;
  SST::Link* timer_ = nullptr;
  bool ended_ = false;
};

}  // namespace hespas::engines
