// The members of a collective, or the sender and receiver of a message, meet here.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "base/result.h"
#include "trace/trace_graph.h"

namespace hespas::simulate {

struct Rendezvous {
  std::vector<std::pair<uint32_t, uint32_t>> here;  // rank and node position
  uint64_t ready = 0;                               // when the last one came
};

// Sender, receiver and tag, or a group, with the ordinal.
using RendezvousKey = std::tuple<bool, uint32_t, int64_t, int32_t, uint32_t>;

class RendezvousTable {
 public:
  explicit RendezvousTable(const trace::TraceGraph& trace);

  // Of a collective of that rank.
  std::span<const uint32_t> Members(uint32_t rank, const trace::Node& node) const;
  RendezvousKey KeyOf(uint32_t rank, const trace::Node& node, uint32_t ordinal) const;
  // nullptr until the last one is here. The next rendezvous may move it.
  const Rendezvous* Arrive(uint32_t rank, uint32_t position, uint32_t ordinal, uint64_t now);
  // The first one for which somebody never comes.
  std::optional<Error> Incomplete() const;

 private:
  const trace::TraceGraph& trace_;
  std::vector<uint32_t> all_;
  std::map<RendezvousKey, Rendezvous> by_key_;
};

}  // namespace hespas::simulate
