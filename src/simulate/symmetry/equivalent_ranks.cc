#include "simulate/symmetry/equivalent_ranks.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <span>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include "base/disjoint_sets.h"
#include "base/text/hash.h"

namespace hespas::simulate {

using hardware::AlgorithmKind;
using hardware::System;
using trace::TraceGraph;
using Distance = std::pair<uint32_t, uint32_t>;

namespace {

constexpr uint64_t kMostPairs = 20'000'000;  // that are worth a look
constexpr uint32_t kUnset = 0xFFFFFFFFu;

// What decides how long a message takes: the dimension that it crosses, and the hops there.
Distance DistanceOf(const System& system, uint32_t from, uint32_t to) {
  uint32_t d = 0;
  for (; d + 1 < system.dimensions.size() && from % system.dimensions[d].npus == to % system.dimensions[d].npus; ++d) {
    from /= system.dimensions[d].npus;
    to /= system.dimensions[d].npus;
  }
  if (system.dimensions[d].kind != hardware::DimensionKind::kRing) return {d, 0};
  const uint32_t n = system.dimensions[d].npus;
  const uint32_t clockwise = (to % n + n - from % n) % n;
  return {d, std::min(clockwise, n - clockwise)};
}

// Whether collectives of all NPUs run as rings in the dimension.
bool OnlyRings(const System& system, size_t dimension) {
  return std::all_of(system.collectives.begin(), system.collectives.end(), [&](const auto& collective) {
    return !collective.algorithms || collective.algorithms->size() <= dimension ||
           (*collective.algorithms)[dimension].kind == AlgorithmKind::kRing;
  });
}

// Groups run the only algorithm of a list, or rings.
bool GroupsAreRings(const System& system) {
  return std::all_of(system.collectives.begin(), system.collectives.end(), [](const auto& collective) {
    return !collective.algorithms || collective.algorithms->size() != 1 ||
           (*collective.algorithms)[0].kind == AlgorithmKind::kRing;
  });
}

class Finder {
 public:
  Finder(const TraceGraph& trace, const System& system, const SimulateOptions& options, EquivalentRanks& out)
      : trace_(trace), system_(system), options_(options), out_(out), ranks_(static_cast<uint32_t>(system.npus())) {}

  std::string Run() {
    NamePlaces();
    FirstColours();
    if (colours_ > 1 && colours_ > ranks_ / 2)
      return trace_.programs.size() > 1 ? "ranks run different programs" : "ranks differ in speed";
    for (const auto find : {&Finder::PlaceInGroups, &Finder::PlacePeers, &Finder::Refine, &Finder::CheckDimensions,
                            &Finder::MakeFamilies}) {
      if (std::string why = (this->*find)(); !why.empty()) return why;
    }
    MakeLinks();
    return {};
  }

 private:
  // What a program names, in the order in which it does; places where it differs from rank to rank.
  struct Named {
    std::vector<uint32_t> groups;
    std::vector<int32_t> peers;
    bool per_rank = false;
  };
  // A rank in one of the groups that its program names.
  struct Place {
    const std::vector<uint32_t>* members = nullptr;
    uint32_t position = 0;
  };

  const std::vector<uint32_t>& GroupsOf(uint32_t rank) const {
    const Named& named = named_[trace_.program_of_rank[rank]];
    return named.per_rank ? trace_.arguments[rank].groups : named.groups;
  }
  const std::vector<int32_t>& PeersOf(uint32_t rank) const {
    const Named& named = named_[trace_.program_of_rank[rank]];
    return named.per_rank ? trace_.arguments[rank].peers : named.peers;
  }
  double SpeedOf(uint32_t rank) const {
    return rank < options_.compute_scale.size() ? options_.compute_scale[rank] : 1.0;
  }
  std::span<const Place> PlacesOf(uint32_t rank) const {
    return places_.empty() ? std::span<const Place>() : std::span<const Place>(places_[rank]);
  }
  bool Whole(const Place& place) const { return place.members->size() == ranks_; }
  uint32_t NextInDimension(uint32_t rank, size_t d, uint32_t steps) const {
    uint64_t stride = 1;
    for (size_t i = 0; i < d; ++i) stride *= system_.dimensions[i].npus;
    const uint32_t n = system_.dimensions[d].npus;
    const uint64_t here = rank / stride % n;
    return static_cast<uint32_t>(rank - here * stride + (here + steps) % n * stride);
  }

  void NamePlaces() {
    const auto add = [](auto& names, auto name) {
      if (std::ranges::find(names, name) == names.end()) names.push_back(name);
    };
    for (const trace::Program& program : trace_.programs) {
      Named& named = named_.emplace_back();
      for (const trace::Node& node : program.nodes) {
        const bool collective = node.kind == trace::NodeKind::kCollective;
        named.per_rank = named.per_rank || node.per_rank;
        if (collective && (node.per_rank || node.group != 0)) add(named.groups, node.group);
        of_all_ = of_all_ || (collective && !node.per_rank && node.group == 0);
        if (trace::IsMessage(node.kind)) add(named.peers, node.peer);
      }
    }
  }

  void FirstColours() {
    std::map<std::pair<uint32_t, double>, uint32_t> known;
    colour_.resize(ranks_);
    for (uint32_t rank = 0; rank < ranks_; ++rank) {
      const std::pair what(trace_.program_of_rank[rank], SpeedOf(rank));
      colour_[rank] = known.try_emplace(what, static_cast<uint32_t>(known.size())).first->second;
    }
    colours_ = static_cast<uint32_t>(known.size());
  }

  std::string PlaceInGroups() {
    if (std::ranges::all_of(named_, [](const Named& named) { return named.groups.empty(); })) return {};
    places_.resize(ranks_);
    std::unordered_set<uint32_t> used;
    for (uint32_t rank = 0; rank < ranks_; ++rank) {
      places_[rank].resize(GroupsOf(rank).size());
      used.insert(GroupsOf(rank).begin(), GroupsOf(rank).end());
    }
    for (const auto& [id, members] : trace_.groups) {
      if (!used.contains(id)) continue;
      for (uint32_t i = 0; i < members.size(); ++i) {
        const std::vector<uint32_t>& named = GroupsOf(members[i]);
        const auto at = std::find(named.begin(), named.end(), id);
        if (at == named.end()) return "not every member of a group uses it";
        places_[members[i]][static_cast<size_t>(at - named.begin())] = {&members, i};
      }
    }
    for (const std::vector<Place>& of_rank : places_) {
      for (const Place& place : of_rank) {
        if (place.members == nullptr || place.members->size() < 2)
          return "a rank uses a group that has no other member, or that it does not belong to";
        any_group_ = any_group_ || !Whole(place);
        of_all_ = of_all_ || Whole(place);
      }
    }
    return {};
  }

  // Each peer must name the rank as its own.
  std::string PlacePeers() {
    if (std::ranges::all_of(named_, [](const Named& named) { return named.peers.empty(); })) return {};
    back_.resize(ranks_);
    for (uint32_t rank = 0; rank < ranks_; ++rank) {
      for (const int32_t named : PeersOf(rank)) {
        const auto peer = static_cast<uint32_t>(named);
        if (named < 0 || peer >= ranks_ || peer == rank) return "messages go to no other rank";
        const std::vector<int32_t>& others = PeersOf(peer);
        const auto at = std::find(others.begin(), others.end(), static_cast<int32_t>(rank));
        if (at == others.end()) return "messages without a partner";
        back_[rank].push_back(static_cast<uint32_t>(at - others.begin()));
        any_peer_ = true;
      }
    }
    return {};
  }

  // Splits colours until ranks of one colour see the same around them.
  std::string Refine() {
    while (colours_ > 1 || any_group_ || any_peer_) {
      std::unordered_map<Hash128, uint32_t> known;
      std::vector<uint32_t> next(ranks_);
      std::vector<uint32_t> seen;
      for (uint32_t rank = 0; rank < ranks_; ++rank) {
        Look(rank, seen);
        const Hash128 key = HashBytes({reinterpret_cast<const char*>(seen.data()), seen.size() * sizeof(uint32_t)});
        next[rank] = known.try_emplace(key, static_cast<uint32_t>(known.size())).first->second;
      }
      colour_ = std::move(next);
      if (known.size() == colours_) break;
      colours_ = static_cast<uint32_t>(known.size());
      if (colours_ > ranks_ / 2) return fmt::format("hardly any two of the {} ranks are equivalent", ranks_);
    }
    out_.class_of = colour_;
    out_.members.resize(colours_);
    for (uint32_t rank = 0; rank < ranks_; ++rank) out_.members[colour_[rank]].push_back(rank);
    return {};
  }

  void Look(uint32_t rank, std::vector<uint32_t>& seen) const {
    seen.assign(1, colour_[rank]);
    const auto see = [&](uint32_t other) {
      const Distance distance = DistanceOf(system_, rank, other);
      seen.insert(seen.end(), {colour_[other], distance.first, distance.second});
    };
    for (size_t d = 0; of_all_ && d < system_.dimensions.size(); ++d) {
      see(NextInDimension(rank, d, 1));
      see(NextInDimension(rank, d, system_.dimensions[d].npus - 1));
    }
    for (const Place& place : PlacesOf(rank)) {
      const auto size = static_cast<uint32_t>(place.members->size());
      seen.push_back(size);
      if (Whole(place)) continue;
      see((*place.members)[(place.position + 1) % size]);
      see((*place.members)[(place.position + size - 1) % size]);
    }
    for (size_t i = 0; i < PeersOf(rank).size(); ++i) {
      see(static_cast<uint32_t>(PeersOf(rank)[i]));
      seen.push_back(back_[rank][i]);
    }
  }

  // Exchanges of all with all are only known among ranks of one class.
  std::string CheckDimensions() {
    for (size_t d = 0; of_all_ && colours_ > 1 && d < system_.dimensions.size(); ++d) {
      if (OnlyRings(system_, d)) continue;
      for (uint32_t rank = 0; rank < ranks_; ++rank) {
        if (colour_[rank] != colour_[NextInDimension(rank, d, 1)])
          return "several classes of ranks take part in a collective that is no ring";
      }
    }
    return {};
  }

  uint32_t Slot(uint32_t rank, size_t group) const { return first_slot_[colour_[rank]] + static_cast<uint32_t>(group); }

  std::string MakeFamilies() {
    if (!any_group_) return {};
    first_slot_.assign(1, 0);
    for (const auto& members : out_.members) {
      first_slot_.push_back(first_slot_.back() + static_cast<uint32_t>(GroupsOf(members[0]).size()));
    }
    const std::vector<uint32_t> roots = JoinSlots();
    std::vector<uint32_t> family_at(roots.size(), kUnset);
    for (uint32_t rank = 0; rank < ranks_; ++rank) {
      for (size_t i = 0; i < places_[rank].size(); ++i) {
        if (Whole(places_[rank][i])) continue;
        uint32_t& at = family_at[roots[Slot(rank, i)]];
        if (at == kUnset) {
          at = static_cast<uint32_t>(out_.families.size());
          out_.families.push_back({.group_of = std::vector<const std::vector<uint32_t>*>(ranks_),
                                   .position = std::vector<uint32_t>(ranks_),
                                   .size = static_cast<uint32_t>(places_[rank][i].members->size()),
                                   .number = GroupsOf(rank)[i]});
        }
        GroupFamily& family = out_.families[at];
        if (family.group_of[rank] != nullptr) return "groups overlap";
        family.group_of[rank] = places_[rank][i].members;
        family.position[rank] = places_[rank][i].position;
        if (out_.first(rank) == rank) out_.family_of[GroupsOf(rank)[i]] = at;
      }
    }
    for (GroupFamily& family : out_.families) {
      if (std::string why = Classify(family); !why.empty()) return why;
    }
    return {};
  }

  // Which groups of classes are the same groups: by slot, the least slot of its family.
  std::vector<uint32_t> JoinSlots() const {
    DisjointSets joined(first_slot_.back());
    std::unordered_map<const std::vector<uint32_t>*, uint32_t> slot_of;
    for (uint32_t rank = 0; rank < ranks_; ++rank) {
      for (size_t i = 0; i < places_[rank].size(); ++i) {
        const uint32_t slot = Slot(rank, i);
        joined.Join(slot, slot_of.try_emplace(places_[rank][i].members, slot).first->second);
      }
    }
    std::vector<uint32_t> least(first_slot_.back());
    for (uint32_t slot = 0; slot < least.size(); ++slot) least[slot] = joined.Find(slot);
    return least;
  }

  // Sorts the numbers of places into classes of equal distance; empty if ranks are equivalent, otherwise why not.
  std::string Classify(GroupFamily& family) const {
    family.class_of_steps.assign(family.size, 0);
    if (GroupsAreRings(system_)) return {};
    if (uint64_t{family.size} * ranks_ > kMostPairs) return "groups are too large to compare their distances";
    std::map<Distance, uint32_t> classes;
    std::optional<uint32_t> first;
    for (uint32_t rank = 0; rank < ranks_; ++rank) {
      if (family.group_of[rank] == nullptr) continue;
      if (!first) first = rank;
      if (colour_[rank] != colour_[*first]) return "several classes of ranks take part in a collective that is no ring";
      for (uint32_t steps = 1; steps < family.size; ++steps) {
        const Distance distance = DistanceIn(family, rank, steps);
        if (distance != DistanceIn(family, *first, steps)) return "members of groups are at unequal distances";
        if (rank != *first) continue;
        family.class_of_steps[steps] =
            classes.try_emplace(distance, static_cast<uint32_t>(classes.size()) + 1).first->second;
      }
    }
    if (classes.size() == 1) family.class_of_steps.assign(family.size, 0);
    return {};
  }

  Distance DistanceIn(const GroupFamily& family, uint32_t rank, uint32_t steps) const {
    return DistanceOf(system_, rank, (*family.group_of[rank])[(family.position[rank] + steps) % family.size]);
  }

  void MakeLinks() {
    for (const std::vector<uint32_t>& members : out_.members) {
      const uint32_t first = members[0];
      for (size_t i = 0; i < PeersOf(first).size(); ++i) {
        const auto peer = static_cast<uint32_t>(PeersOf(first)[i]);
        const uint32_t target = out_.first(peer);
        out_.sends[{first, peer}] = {.origin = static_cast<uint32_t>(PeersOf(target)[back_[first][i]]),
                                     .target = target,
                                     .link = static_cast<uint32_t>(out_.links.size())};
        std::vector<uint32_t>& link = out_.links.emplace_back(ranks_, kUnset);
        for (const uint32_t rank : members) link[rank] = static_cast<uint32_t>(PeersOf(rank)[i]);
      }
    }
  }

  const TraceGraph& trace_;
  const System& system_;
  const SimulateOptions& options_;
  EquivalentRanks& out_;
  uint32_t ranks_;
  std::vector<Named> named_;      // by program
  bool of_all_ = false;           // some program has collectives of all ranks
  std::vector<uint32_t> colour_;  // by rank
  uint32_t colours_ = 0;
  std::vector<std::vector<Place>> places_;   // by rank, as its program names the groups
  std::vector<std::vector<uint32_t>> back_;  // by rank and peer: the rank among the peer's own peers
  bool any_group_ = false;
  bool any_peer_ = false;
  std::vector<uint32_t> first_slot_;  // of each class; a slot is a group that its program names
};

}  // namespace

std::string FindClasses(const TraceGraph& trace, const System& system, const SimulateOptions& options,
                        EquivalentRanks& out) {
  return Finder(trace, system, options, out).Run();
}

}  // namespace hespas::simulate
