// Transfers that share links fairly: each advances at one over the most transfers that use one of its links at one of
// its ranks.
//
// - A link is a dimension of a rank's network, in one direction.
// - Whoever begins or ends changes the ends of others; they come back with their new ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace hespas::simulate {

class SharedLinks {
 public:
  struct Port {
    uint32_t rank = 0;
    bool sends = true, receives = true;
  };
  struct End {
    uint64_t transfer = 0;
    uint64_t at = 0;
  };

  explicit SharedLinks(size_t ranks) : at_rank_(ranks) {}

  // `links`: bits of the dimensions. Takes `work` where it is alone. The ends that change, its own among them.
  std::vector<End> Begin(uint64_t transfer, std::vector<Port> ports, uint32_t links, uint64_t work, uint64_t now);
  std::vector<End> Finish(uint64_t transfer, uint64_t now);

 private:
  struct Flow {
    std::vector<Port> ports;
    uint32_t links = 0;
    double left = 0;  // work
    double rate = 1;
    uint64_t since = 0;  // when `left` was so much
  };
  struct Use {
    uint64_t transfer = 0;
    uint32_t links = 0;
    bool sends = true, receives = true;
  };
  double RateOf(const Flow& flow) const;
  std::vector<End> Update(const Flow& changed, uint64_t now);

  std::map<uint64_t, Flow> flows_;
  std::vector<std::vector<Use>> at_rank_;
};

}  // namespace hespas::simulate
