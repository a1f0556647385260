// Storage for attribute texts that are made while reading: many small copies in few buffers owned by the module.
#pragma once

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>

#include "ir/module.h"

namespace hespas::read {

class TextArena {
 public:
  explicit TextArena(ir::Module& module) : module_(module) {}

  // A copy of `text` that lives as long as the module.
  std::string_view Copy(std::string_view text) {
    char* at = Take(text.size());
    if (!text.empty()) std::memcpy(at, text.data(), text.size());
    return {at, text.size()};
  }

 private:
  static constexpr size_t kChunk = size_t{1} << 16;

  char* Take(size_t size) {
    if (size > left_) {
      const std::string_view chunk = module_.Keep(std::string(std::max(size, kChunk), '\0'));
      next_ = const_cast<char*>(chunk.data());  // the buffer is a plain std::string that only this arena writes to
      left_ = chunk.size();
    }
    char* at = next_;
    next_ += size;
    left_ -= size;
    return at;
  }

  ir::Module& module_;
  char* next_ = nullptr;
  size_t left_ = 0;
};

}  // namespace hespas::read
