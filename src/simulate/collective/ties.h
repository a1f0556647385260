// Whether ranks that run one program in groups of several kinds could do something in different orders.
//
// As long as there are no ties, what one rank does is what all do: at each time the ranks have the same events, those
// of a rank are handled together and in the order of its program, and a collective begins for all of its members when
// the last one has arrived, at the time at which the others did. Until then the others read nothing that it changes but
// for:
// - the links that it holds, in the next collective. One of the same groups begins behind it on all ranks; one of other
//   groups may find it begun on some ranks and not on others. So both must not arrive at one time.
// - its end, if it takes no time.
#pragma once

#include <cstdint>
#include <utility>

#include "trace/trace_graph.h"

namespace hespas::simulate {

class Ties {
 public:
  // Of one rank: times do not fall.
  void Arrive(uint64_t now, const trace::Node& node) {
    const std::pair kind(node.per_rank, node.group);
    any_ = any_ || (arrived_ && last_ == now && kind != kind_);
    arrived_ = true;
    last_ = now;
    kind_ = kind;
  }
  void Found() { any_ = true; }
  bool Any() const { return any_; }

 private:
  bool any_ = false;
  bool arrived_ = false;
  uint64_t last_ = 0;
  std::pair<bool, uint32_t> kind_;
};

}  // namespace hespas::simulate
