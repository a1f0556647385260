#include "simulate/astra_sim/transport.h"

#include <fmt/format.h>

namespace hespas::simulate {

using hardware::DimensionKind;
using hardware::NetworkDimension;

Transport::Transport(Core& core) : core_(core) {
  uint64_t stride = 1;
  for (const NetworkDimension& dimension : core.system.dimensions) {
    bytes_per_ns_.push_back(dimension.bandwidth * 1073741824.0 / 1e9);  // GB = 2^30 bytes, in this order of operations
    strides_.push_back(stride);
    stride *= dimension.npus;
  }
  strides_.push_back(stride);
  dimension_use_.resize(core.system.dimensions.size());
  if (core.options.backend != Backend::kAware) return;
  if (core.options.graph || !core.options.failed_links.empty()) {
    BuildGraph();
  } else {
    BuildLinks();
  }
}

void Transport::Start(uint32_t message) {
  ++started;
  if (core_.options.backend == Backend::kCarried) return core_.carrier->Carry(messages[message].key, message);
  if (core_.options.backend == Backend::kAware) {
    messages[message].at = messages[message].key.source;
    Forward(message);
    return;
  }
  const MatchKey& key = messages[message].key;
  if (core_.options.record_links) CountUse(key.source, key.destination, key.size);
  core_.queue.Push(core_.queue.now() + UnawareDelay(key.source, key.destination, key.size) * core_.ticks_per_ns,
                   {.kind = EventKind::kArrive, .a = message});
}

void Transport::StartMirrored(const Message& message, uint64_t delay, uint32_t order) {
  ++started;
  if (core_.options.record_links) CountUse(message.key.source, message.key.destination, message.key.size);
  core_.queue.Push(core_.queue.now() + delay, {.kind = EventKind::kArrive, .a = messages.Take(message)}, order);
}

uint64_t Transport::UnawareDelay(uint32_t source, uint32_t destination, uint64_t size) const {
  const std::vector<NetworkDimension>& dimensions = core_.system.dimensions;
  size_t d = 0;
  uint32_t from = source;
  uint32_t to = destination;
  uint32_t here = from % dimensions[0].npus;
  uint32_t there = to % dimensions[0].npus;
  while (here == there && d + 1 < dimensions.size()) {
    from /= dimensions[d].npus;
    to /= dimensions[d].npus;
    ++d;
    here = from % dimensions[d].npus;
    there = to % dimensions[d].npus;
  }
  uint32_t hops = dimensions[d].kind == DimensionKind::kSwitch ? 2 : 1;
  if (dimensions[d].kind == DimensionKind::kRing) {
    const uint32_t clockwise = there >= here ? there - here : there + dimensions[d].npus - here;
    hops = std::min(clockwise, dimensions[d].npus - clockwise);
  }
  return static_cast<uint64_t>(hops * dimensions[d].latency + static_cast<double>(size) / bytes_per_ns_[d]);
}

bool Transport::Arrive(uint32_t message) {
  if (core_.options.backend != Backend::kAware) return true;
  const Message& at = messages[message];
  if (at.at == at.key.destination) return true;
  Forward(message);
  return false;
}

void Transport::BuildLinks() {
  const uint64_t ranks = core_.ranks;
  uint64_t links = 0;
  for (size_t d = 0; d < core_.system.dimensions.size(); ++d) {
    first_link_.push_back(links);
    const NetworkDimension& dimension = core_.system.dimensions[d];
    const uint64_t per_rank = dimension.kind == DimensionKind::kFullyConnected ? dimension.npus : 2;
    links += ranks * per_rank;
    links_.resize(links, Link{.bytes_per_ns = bytes_per_ns_[d], .latency = dimension.latency});
  }
}

void Transport::BuildGraph() {
  hardware::LinkGraph graph = core_.options.graph ? *core_.options.graph : hardware::LinkGraphOf(core_.system);
  for (const auto& [a, b] : core_.options.failed_links) {
    std::erase_if(graph.links, [&, a = a, b = b](const hardware::GraphLink& link) {
      return (link.from == a && link.to == b) || (link.from == b && link.to == a);
    });
  }
  for (const hardware::GraphLink& link : graph.links) {
    links_.push_back(Link{.bytes_per_ns = link.bandwidth * 1073741824.0 / 1e9, .latency = link.latency});
  }
  routes_.emplace(std::move(graph));
}

Transport::Hop Transport::NextHop(uint32_t device, const MatchKey& key) {
  if (!routes_) return NextHopInDimensions(device, key);
  const uint32_t link = routes_->NextLink(device, key.destination);
  return {link, link == Routes::kNoLink ? device : routes_->graph().links[link].to};
}

// Links of a rank in a dimension. Ring: up, down. Fully connected: one for each coordinate. Switch: to it, from it.
Transport::Hop Transport::HopInDimension(uint32_t device, uint32_t destination, size_t d) const {
  const NetworkDimension& dimension = core_.system.dimensions[d];
  const uint32_t here = Coordinate(device, d);
  const uint32_t there = Coordinate(destination, d);
  const auto moved = [&](uint32_t coordinate) {
    return static_cast<uint32_t>(device + (uint64_t{coordinate} - here) * strides_[d]);
  };
  const auto link = [&](uint32_t rank, uint64_t per_rank, uint64_t which) {
    return static_cast<uint32_t>(first_link_[d] + rank * per_rank + which);
  };
  const uint32_t n = dimension.npus;
  if (dimension.kind == DimensionKind::kFullyConnected) return {link(device, n, there), moved(there)};
  const uint32_t clockwise = there >= here ? there - here : there + n - here;
  if (n - clockwise < clockwise) return {link(device, 2, 1), moved(here == 0 ? n - 1 : here - 1)};
  return {link(device, 2, 0), moved(here + 1 == n ? 0 : here + 1)};
}

// Dimension order: the lowest differing dimension first. A switch of dimension d is a device of its own, numbered
// ranks * (1 + d) + the lowest rank's number that it serves.
Transport::Hop Transport::NextHopInDimensions(uint32_t device, const MatchKey& key) const {
  const std::vector<NetworkDimension>& dimensions = core_.system.dimensions;
  if (device >= core_.ranks) {
    const size_t d = device / core_.ranks - 1;
    const uint32_t zero = device % core_.ranks;
    const auto target = static_cast<uint32_t>(zero + Coordinate(key.destination, d) * strides_[d]);
    return {static_cast<uint32_t>(first_link_[d] + target * 2 + 1), target};
  }
  size_t d = 0;
  while (d + 1 < dimensions.size() && Coordinate(device, d) == Coordinate(key.destination, d)) ++d;
  if (dimensions[d].kind != DimensionKind::kSwitch) return HopInDimension(device, key.destination, d);
  const auto zero = static_cast<uint32_t>(device - Coordinate(device, d) * strides_[d]);
  return {static_cast<uint32_t>(first_link_[d] + device * 2), static_cast<uint32_t>(core_.ranks * (1 + d) + zero)};
}

void Transport::Forward(uint32_t message) {
  const Hop hop = NextHop(messages[message].at, messages[message].key);
  if (hop.link == Routes::kNoLink) {
    const MatchKey& key = messages[message].key;
    core_.Fail(kNotPossible,
               fmt::format("NPU {} cannot reach NPU {}: no path of links is left", key.source, key.destination),
               "check the topology file and the failed links");
    return;
  }
  Link& link = links_[hop.link];
  if (!link.busy) {
    Transmit(hop.link, message);
    return;
  }
  messages[message].queued_at = core_.queue.now();
  messages[message].next = kNil;
  if (link.first == kNil) {
    link.first = message;
  } else {
    messages[link.last].next = message;
  }
  link.last = message;
}

// The arrival is scheduled before the release of the link (spec astra-sim section 3.3).
void Transport::Transmit(uint32_t index, uint32_t message) {
  Link& link = links_[index];
  const MatchKey& key = messages[message].key;
  const double serialisation = static_cast<double>(key.size) / link.bytes_per_ns;
  const uint64_t busy = static_cast<uint64_t>(serialisation) * core_.ticks_per_ns;
  const uint64_t arrival = static_cast<uint64_t>(link.latency + serialisation) * core_.ticks_per_ns;
  link.busy = true;
  ++link.messages;
  link.bytes += key.size;
  link.busy_ticks += busy;
  messages[message].at = NextHop(messages[message].at, key).device;
  core_.queue.Push(core_.queue.now() + arrival, {.kind = EventKind::kArrive, .a = message});
  core_.queue.Push(core_.queue.now() + busy, {.kind = EventKind::kLinkFree, .a = index});
}

void Transport::LinkFree(uint32_t index) {
  Link& link = links_[index];
  link.busy = false;
  if (link.first == kNil) return;
  const uint32_t message = link.first;
  link.first = messages[message].next;
  link.queued_ticks += core_.queue.now() - messages[message].queued_at;
  Transmit(index, message);
}

std::string Transport::LinkName(uint64_t index) const {
  if (routes_) return fmt::format("{}->{}", routes_->graph().links[index].from, routes_->graph().links[index].to);
  size_t d = first_link_.size() - 1;
  while (first_link_[d] > index) --d;
  const NetworkDimension& dimension = core_.system.dimensions[d];
  const uint64_t per_rank = dimension.kind == DimensionKind::kFullyConnected ? dimension.npus : 2;
  const uint64_t rank = (index - first_link_[d]) / per_rank;
  const uint64_t which = (index - first_link_[d]) % per_rank;
  const uint64_t here = rank / strides_[d] % dimension.npus;
  const auto moved = [&](uint64_t coordinate) { return rank + (coordinate - here) * strides_[d]; };
  if (dimension.kind == DimensionKind::kFullyConnected) return fmt::format("{}->{}", rank, moved(which));
  if (dimension.kind == DimensionKind::kSwitch) {
    return which == 0 ? fmt::format("{}->switch", rank) : fmt::format("switch->{}", rank);
  }
  return fmt::format("{}->{}", rank, moved((here + (which == 0 ? 1 : dimension.npus - 1)) % dimension.npus));
}

std::vector<result::LinkUse> Transport::Use() const {
  std::vector<result::LinkUse> used;
  const bool aware = core_.options.backend == Backend::kAware;
  const std::vector<Link>& links = aware ? links_ : dimension_use_;
  for (size_t i = 0; i < links.size(); ++i) {
    const Link& link = links[i];
    if (link.messages == 0) continue;
    used.push_back({.name = aware ? LinkName(i) : fmt::format("dimension {}", i),
                    .messages = link.messages,
                    .bytes = link.bytes,
                    .busy = link.busy_ticks,
                    .queued = link.queued_ticks});
  }
  return used;
}

// Unaware: bytes and serialisation of all links of the dimension together, for each hop.
void Transport::CountUse(uint32_t source, uint32_t destination, uint64_t size) {
  size_t d = 0;
  while (d + 1 < strides_.size() - 1 && Coordinate(source, d) == Coordinate(destination, d)) ++d;
  Link& use = dimension_use_[d];
  const uint64_t times = core_.weight(source);
  use.messages += times;
  use.bytes += size * times;
  use.busy_ticks += static_cast<uint64_t>(static_cast<double>(size) / bytes_per_ns_[d]) * core_.ticks_per_ns * times;
}

}  // namespace hespas::simulate
