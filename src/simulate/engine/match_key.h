// What a message is, and what tells it from others: sends and receives of equal keys pair up.
#pragma once

#include <cstdint>

namespace hespas::simulate {

struct MatchKey {
  uint64_t size = 0;  // bytes
  uint32_t tag = 0;
  uint32_t source = 0;
  uint32_t destination = 0;
  bool operator==(const MatchKey&) const = default;
};

}  // namespace hespas::simulate
