#include "engines/simgrid/engine.h"

#include <algorithm>
#include <cmath>
#include <simgrid/kernel/Timer.hpp>
#include <utility>

#include "simulate/simulate.h"

namespace hespas::engines {
namespace {

namespace s4u = simgrid::s4u;

inline constexpr DiagnosticKind kFlowFailed{
    "E0960", "SimGrid reported that a message failed: its platform lets a link or a host go down.",
    Outcome::kCannotRun};

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Numbers inside names count by their value.
bool NaturallyBefore(const std::string& a, const std::string& b) {
  size_t i = 0;
  size_t j = 0;
  while (i < a.size() && j < b.size()) {
    if (!IsDigit(a[i]) || !IsDigit(b[j])) {
      if (a[i] != b[j]) return a[i] < b[j];
      ++i;
      ++j;
      continue;
    }
    const auto number = [](const std::string& text, size_t& at) {
      const size_t start = std::min(text.find_first_not_of('0', at), text.size());
      for (at = start; at < text.size() && IsDigit(text[at]);) ++at;
      return text.substr(start, at - start);
    };
    const std::string x = number(a, i);
    const std::string y = number(b, j);
    if (x != y) return std::pair(x.size(), x) < std::pair(y.size(), y);
  }
  return a.size() - i < b.size() - j;
}

bool SetsModel(const std::vector<std::string>& settings) {
  return std::any_of(settings.begin(), settings.end(),
                     [](const std::string& setting) { return setting.starts_with("network/model"); });
}

std::unique_ptr<s4u::Engine> Start(const simulate::FlowNetwork& network) {
  std::vector<std::string> arguments = {"hespas", "--log=root.thres:critical"};
  for (const char* ours :
       {"network/model:CM02", "network/TCP-gamma:0", "network/crosstraffic:0", "surf/precision:1e-12"})
    arguments.push_back(std::string("--cfg=") + ours);
  for (const std::string& setting : network.settings) arguments.push_back("--cfg=" + setting);
  std::vector<char*> pointers;
  pointers.reserve(arguments.size() + 1);
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  auto count = static_cast<int>(pointers.size());
  pointers.push_back(nullptr);
  return std::make_unique<s4u::Engine>(&count, pointers.data());
}

}  // namespace

Engine::Engine(const simulate::FlowNetwork& network) : network_(network), simgrid_(Start(network)) {
  s4u::Activity::on_completion_cb([this](const s4u::Activity& activity) {
    if (const auto* comm = dynamic_cast<const s4u::Comm*>(&activity)) Ended(*comm);
  });
  simgrid_->load_platform(network.platform);
  simgrid_->seal_platform();
  hosts_ = simgrid_->get_all_hosts();
  std::sort(hosts_.begin(), hosts_.end(),
            [](const s4u::Host* a, const s4u::Host* b) { return NaturallyBefore(a->get_name(), b->get_name()); });
  host_of_rank_ = hosts_;
  own_latencies_ = !SetsModel(network.settings);
  TakeLatencies();
}

void Engine::TakeLatencies() {
  std::vector<Link*> links = simgrid_->get_all_links();
  std::sort(links.begin(), links.end(),
            [](const Link* a, const Link* b) { return NaturallyBefore(a->get_name(), b->get_name()); });
  for (Link* link : links) {
    if (network_.count_links) {
      link_numbers_.emplace(link, static_cast<uint32_t>(links_.size()));
      links_.push_back({.name = link->get_name()});
      bandwidths_.push_back(link->get_bandwidth());
    }
    if (!own_latencies_) continue;
    latencies_.emplace(link, link->get_latency());
    link->set_latency(0);
  }
}

double Engine::Seconds(uint64_t tick) const {
  return static_cast<double>(tick) / static_cast<double>(network_.ticks_per_second);
}

uint64_t Engine::Tick() const {
  const double ticks = s4u::Engine::get_clock() * static_cast<double>(network_.ticks_per_second);
  return std::max(now_, static_cast<uint64_t>(std::llround(ticks)));
}

void Engine::After(uint64_t delay, Callback callback) {
  agenda_.Add(now_ + delay, std::move(callback));
  WakeAt(now_ + delay);
}

// Timers that come too early do no harm.
void Engine::WakeAt(uint64_t tick) {
  if (tick >= wake_) return;
  wake_ = tick;
  simgrid::kernel::timer::Timer::set(std::max(Seconds(tick), s4u::Engine::get_clock()), [this] { RunDue(); });
}

void Engine::RunDue() {
  for (const uint32_t flow : ended_) {
    flows_[flow].comm.reset();
    flows_.Release(flow);
  }
  ended_.clear();
  const uint64_t due = Tick();
  wake_ = 0;  // none is needed for what is due
  while (!agenda_.empty() && agenda_.first() <= due) {
    now_ = agenda_.first();
    agenda_.TakeFirst()();
  }
  wake_ = ~uint64_t{0};
  if (!agenda_.empty()) WakeAt(agenda_.first());
}

const Engine::Route& Engine::RouteOf(uint32_t source, uint32_t destination) {
  const auto [at, is_new] = routes_.try_emplace(uint64_t{source} << 32 | destination);
  Route& route = at->second;
  if (!is_new) return route;
  std::vector<Link*> links;
  double seconds = 0;
  host_of_rank_[source]->route_to(host_of_rank_[destination], links, &seconds);
  seconds = 0;
  for (const Link* link : links) {
    if (own_latencies_) seconds += latencies_.at(link);
    if (network_.count_links) route.links.push_back(link_numbers_.at(link));
  }
  route.latency = static_cast<uint64_t>(std::llround(seconds * static_cast<double>(network_.ticks_per_second)));
  return route;
}

void Engine::Send(const simulate::MatchKey& message, Callback arrived) {
  if (message.source == message.destination) return After(0, std::move(arrived));
  const Route& route = RouteOf(message.source, message.destination);
  for (const uint32_t link : route.links) {
    ++links_[link].messages;
    links_[link].bytes += message.size;
    links_[link].busy += static_cast<uint64_t>(static_cast<double>(message.size) / bandwidths_[link] *
                                               static_cast<double>(network_.ticks_per_second));
  }
  After(route.latency,
        [this, message, arrived = std::move(arrived)]() mutable { Transfer(message, std::move(arrived)); });
}

void Engine::Transfer(const simulate::MatchKey& message, Callback arrived) {
  if (message.size == 0 && own_latencies_) return arrived();
  const uint32_t flow = flows_.Take();
  s4u::CommPtr comm = s4u::Comm::sendto_init(host_of_rank_[message.source], host_of_rank_[message.destination]);
  comm->set_payload_size(message.size);
  comm->set_data(reinterpret_cast<void*>(uintptr_t{flow}));
  flows_[flow] = {comm, std::move(arrived)};
  comm->start();
}

void Engine::Ended(const s4u::Comm& comm) {
  const auto flow = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(comm.get_data<void>()));
  ended_.push_back(flow);
  if (comm.get_state() != s4u::Activity::State::FINISHED) {
    failure_ =
        "SimGrid lost a message from " + comm.get_source()->get_name() + " to " + comm.get_destination()->get_name();
  }
  const uint64_t tick = Tick();
  agenda_.Add(tick, std::move(flows_[flow].arrived));
  WakeAt(tick);
}

Status Engine::Run() {
  simgrid_->run();
  if (failure_.empty()) return {};
  return MakeError(kFlowFailed, failure_, {}, "take the failures out of the platform file");
}

std::vector<result::LinkUse> Engine::Links() const {
  std::vector<result::LinkUse> used;
  std::copy_if(links_.begin(), links_.end(), std::back_inserter(used),
               [](const result::LinkUse& link) { return link.messages != 0; });
  return used;
}

std::vector<std::string> Engine::Hosts() const {
  std::vector<std::string> names;
  for (const s4u::Host* host : hosts_) names.push_back(host->get_name());
  return names;
}

void Engine::Place(const std::vector<uint32_t>& hosts) {
  host_of_rank_.clear();
  for (const uint32_t host : hosts) host_of_rank_.push_back(hosts_[host]);
}

}  // namespace hespas::engines

extern "C" __attribute__((visibility("default"))) hespas::simulate::FlowEngine* hespas_make_flow_engine(
    const hespas::simulate::FlowNetwork& network) {
  return new hespas::engines::Engine(network);
}
