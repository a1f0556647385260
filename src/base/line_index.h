// Lines and columns of many offsets of one text.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace hespas {

class LineIndex {
 public:
  explicit LineIndex(std::string_view text) {
    for (const char *at = text.data(), *end = at + text.size(); at != end; ++at) {
      at = static_cast<const char*>(std::memchr(at, '\n', static_cast<size_t>(end - at)));
      if (at == nullptr) break;
      starts_.push_back(static_cast<uint32_t>(at - text.data() + 1));
    }
    empty_ = text.empty();
  }

  // 1-based; 0 where there is no text.
  uint32_t Line(uint32_t offset) const {
    if (empty_) return 0;
    return static_cast<uint32_t>(std::upper_bound(starts_.begin(), starts_.end(), offset) - starts_.begin() + 1);
  }

 private:
  std::vector<uint32_t> starts_;  // of the lines behind the first
  bool empty_ = true;
};

}  // namespace hespas
