// Whom one rank talks to, pattern by pattern.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include "trace/rank_classes.h"

namespace hespas::assemble {

// Ranks with equal shapes run the same program; `groups` and `peers` are the numbers in it.
struct RankSignature {
  std::vector<size_t> shape;
  std::vector<uint32_t> groups;
  std::vector<uint32_t> peers;

  void AddGroup(uint32_t group) { shape.push_back(group == 0 ? 0 : PlaceOf(group, groups) + 1); }
  void AddPeers(const std::vector<uint32_t>& ranks) {
    shape.push_back(ranks.size());
    for (const uint32_t rank : ranks) shape.push_back(PlaceOf(rank, peers));
  }

  // From the numbers of `other`, of the same shape, to these.
  trace::Renaming From(const RankSignature& other) const {
    trace::Renaming renaming;
    for (size_t i = 0; i < groups.size(); ++i) renaming.groups[other.groups[i]] = groups[i];
    for (size_t i = 0; i < peers.size(); ++i) {
      renaming.peers[static_cast<int32_t>(other.peers[i])] = static_cast<int32_t>(peers[i]);
    }
    return renaming;
  }

 private:
  static size_t PlaceOf(uint32_t number, std::vector<uint32_t>& numbers) {
    const auto found = std::find(numbers.begin(), numbers.end(), number);
    if (found != numbers.end()) return static_cast<size_t>(found - numbers.begin());
    numbers.push_back(number);
    return numbers.size() - 1;
  }
};

// Adds ranks one after the other; a program is made for the first of each shape alone.
class SharedPrograms {
 public:
  template <class MakeProgram>
  void Add(const RankSignature& signature, MakeProgram make) {
    const auto [first, is_new] = first_.try_emplace(signature.shape, First{next_, signature});
    if (is_new || !ranks_.AddLike(first->second.rank, signature.From(first->second.signature))) ranks_.Add(make());
    ++next_;
  }
  trace::TraceGraph Take() { return ranks_.Take(); }

 private:
  struct First {
    uint32_t rank;
    RankSignature signature;
  };
  std::map<std::vector<size_t>, First> first_;  // by shape
  trace::RankClasses ranks_;
  uint32_t next_ = 0;
};

}  // namespace hespas::assemble
