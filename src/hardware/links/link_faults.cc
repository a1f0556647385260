#include "hardware/links/link_faults.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/disjoint_sets.h"
#include "base/text/unit_text.h"

namespace hespas::hardware {
namespace {

Error Bad(std::string what,
          std::string help = "5@1: what joins rank 5 to dimension 1; 0-1: the link of two neighbours") {
  return MakeError(kBadLinkFault, std::move(what), {}, std::move(help));
}

std::optional<uint32_t> NumberOf(std::string_view text) {
  uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

uint64_t PlaceOf(const System& system, uint32_t rank, size_t dimension) {
  return rank / StrideOf(system, dimension) % system.dimensions[dimension].npus;
}

// The only dimension in which two ranks differ.
std::optional<size_t> DimensionBetween(const System& system, uint32_t a, uint32_t b) {
  std::optional<size_t> found;
  for (size_t d = 0; d < system.dimensions.size(); ++d) {
    if (PlaceOf(system, a, d) == PlaceOf(system, b, d)) continue;
    if (found) return std::nullopt;
    found = d;
  }
  return found;
}

Result<LinkFault> Between(const System& system, uint32_t a, uint32_t b, const std::string& text) {
  const auto d = DimensionBetween(system, a, b);
  if (!d) return Bad(fmt::format("`{}`: no link joins these two", text));
  const NetworkDimension& dimension = system.dimensions[*d];
  if (dimension.kind == DimensionKind::kSwitch)
    return Bad(fmt::format("`{}`: a switch joins these two", text),
               fmt::format("{}@{}: the port of rank {}", a, *d, a));
  if (dimension.kind == DimensionKind::kFullyConnected) return LinkFault{.rank = a, .peer = b, .dimension = *d};
  const uint64_t n = dimension.npus;
  const uint64_t from = PlaceOf(system, a, *d);
  const uint64_t to = PlaceOf(system, b, *d);
  const bool closing = std::min(from, to) == 0 && std::max(from, to) == n - 1;
  if ((from + 1 != to && to + 1 != from && !closing) || (closing && n > 2 && dimension.open))
    return Bad(fmt::format("`{}`: these two are no neighbours", text));
  return LinkFault{.rank = (from + 1) % n == to ? a : b, .peer = (from + 1) % n == to ? b : a, .dimension = *d};
}

Result<LinkFault> AtRank(const System& system, uint32_t rank, size_t d, const std::string& text) {
  const NetworkDimension& dimension = system.dimensions[d];
  if (dimension.kind == DimensionKind::kSwitch) return LinkFault{.rank = rank, .dimension = d};
  if (dimension.kind == DimensionKind::kFullyConnected)
    return Bad(fmt::format("`{}`: a mesh has a link to each peer", text), fmt::format("{}-PEER", rank));
  const uint64_t stride = StrideOf(system, d);
  const uint64_t place = PlaceOf(system, rank, d);
  const uint64_t next = rank - place * stride + (place + 1) % dimension.npus * stride;
  return Between(system, rank, static_cast<uint32_t>(next), text);
}

Result<LinkFault> ParseOne(const System& system, std::string_view link, const std::string& text) {
  const size_t split = std::min(link.find_first_of("@-"), link.size());
  const auto first = NumberOf(link.substr(0, split));
  const auto second = NumberOf(link.substr(std::min(split + 1, link.size())));
  if (!first || !second) return Bad(fmt::format("`{}` names no link", text));
  const bool at_rank = link[split] == '@';
  if (*first >= system.npus() || (!at_rank && *second >= system.npus()))
    return Bad(fmt::format("`{}`: `{}` has {} ranks", text, system.name, system.npus()));
  if (!at_rank) return Between(system, *first, *second, text);
  if (*second >= system.dimensions.size())
    return Bad(fmt::format("`{}`: `{}` has {} dimensions", text, system.name, system.dimensions.size()));
  return AtRank(system, *first, *second, text);
}

// Whether devices have links of their own in another dimension, too.
bool HasOtherAxis(const System& system, size_t dimension) {
  for (size_t d = 0; d < system.dimensions.size(); ++d) {
    const NetworkDimension& other = system.dimensions[d];
    if (d != dimension && other.kind != DimensionKind::kSwitch && other.npus > 1) return true;
  }
  return false;
}

// Whether traffic of a lost link has another way: round the ring, by a third of the mesh, by the host's other adapters,
// by the lines beside it.
bool LeavesAWay(const System& system, const LinkFault& fault) {
  const NetworkDimension& dimension = system.dimensions[fault.dimension];
  if (dimension.kind == DimensionKind::kSwitch) return StrideOf(system, fault.dimension) > 1;
  return (dimension.npus > 2 && !dimension.open) || HasOtherAxis(system, fault.dimension);
}

// The device of the graph that is the switch of a rank in a dimension; LinkGraphOf adds them in the order of ranks.
uint32_t HubOf(const System& system, uint32_t rank, size_t dimension) {
  uint64_t hub = system.npus();
  for (size_t d = 0; d < dimension; ++d) {
    if (system.dimensions[d].kind == DimensionKind::kSwitch) hub += system.npus() / system.dimensions[d].npus;
  }
  const uint64_t stride = StrideOf(system, dimension);
  const uint64_t base = rank - PlaceOf(system, rank, dimension) * stride;
  return static_cast<uint32_t>(hub + base / (stride * system.dimensions[dimension].npus) * stride + base % stride);
}

// What the links of a graph join.
DisjointSets PartsOf(const LinkGraph& graph, bool through_switches) {
  DisjointSets parts(graph.devices);
  for (const GraphLink& link : graph.links) {
    if (through_switches || std::max(link.from, link.to) < graph.npus) parts.Join(link.from, link.to);
  }
  return parts;
}

// Engines that route close each ring; a mesh's line has no such link.
bool ClosesALine(const System& system, const GraphLink& link) {
  const auto d =
      std::max(link.from, link.to) < system.npus() ? DimensionBetween(system, link.from, link.to) : std::nullopt;
  if (!d || !system.dimensions[*d].open || system.dimensions[*d].npus < 3) return false;
  const auto [low, high] = std::minmax({PlaceOf(system, link.from, *d), PlaceOf(system, link.to, *d)});
  return high - low + 1 == system.dimensions[*d].npus;
}

// What lost links cut off together, though each of them alone leaves a way: a rank and one that it has no way to. As
// with one link, neighbours do not meet by a switch.
std::optional<std::pair<uint32_t, uint32_t>> Cut(const std::vector<LinkFault>& lost, const System& system) {
  if (lost.size() < 2) return std::nullopt;
  LinkGraph graph = LinkGraphWith(lost, system);
  std::erase_if(graph.links, [&](const GraphLink& link) { return ClosesALine(system, link); });
  DisjointSets direct = PartsOf(graph, false);
  for (const LinkFault& fault : lost) {
    if (fault.peer && direct.Find(fault.rank) != direct.Find(*fault.peer)) return std::pair(fault.rank, *fault.peer);
  }
  DisjointSets all = PartsOf(graph, true);
  for (uint32_t rank = 0; rank < graph.npus; ++rank) {
    if (all.Find(rank) != 0) return std::pair(rank, 0u);
  }
  return std::nullopt;
}

}  // namespace

uint64_t StrideOf(const System& system, size_t dimension) {
  uint64_t stride = 1;
  for (size_t d = 0; d < dimension; ++d) stride *= system.dimensions[d].npus;
  return stride;
}

Result<std::vector<LinkFault>> ParseLinkFaults(const LinkTexts& texts, const System& system) {
  std::vector<LinkFault> faults;
  for (const std::string& text : texts.failed) {
    auto fault = ParseOne(system, text, text);
    if (!fault) return fault.error();
    if (!LeavesAWay(system, *fault))
      return Bad(fmt::format("`{}`: without that link rank {} has no way to the others", text, fault->rank),
                 "leave the rank out of the system, or slow the link");
    faults.push_back(*fault);
  }
  if (const auto cut = Cut(faults, system))
    return Bad(fmt::format("without these links rank {} has no way to rank {}", cut->first, cut->second),
               "leave the ranks out of the system, or slow a link");
  for (const std::string& text : texts.slow) {
    const size_t equals = std::min(text.find('='), text.size());
    const auto factor = ParseQuantity(text.substr(std::min(equals + 1, text.size())), Unit::kNumber);
    if (!factor || !(*factor > 0) || *factor > 1)
      return Bad(fmt::format("`{}` has no factor between 0 and 1", text), "5@1=0.5: half the bandwidth");
    auto fault = ParseOne(system, std::string_view(text).substr(0, equals), text);
    if (!fault) return fault.error();
    fault->factor = *factor;
    faults.push_back(*fault);
  }
  return faults;
}

LinkGraph LinkGraphWith(const std::vector<LinkFault>& faults, const System& system) {
  LinkGraph graph = LinkGraphOf(system);
  for (const LinkFault& fault : faults) {
    const uint32_t other = fault.peer ? *fault.peer : HubOf(system, fault.rank, fault.dimension);
    for (GraphLink& link : graph.links) {
      const bool is = (link.from == fault.rank && link.to == other) || (link.from == other && link.to == fault.rank);
      if (is) link.bandwidth *= fault.factor;
    }
  }
  std::erase_if(graph.links, [](const GraphLink& link) { return link.bandwidth == 0; });
  return graph;
}

}  // namespace hespas::hardware
