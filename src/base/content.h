// The bytes of an input: a string, or the pages of a large file as the kernel holds them, which nobody has to copy.
//
// - Followed by a NUL byte; copies share the bytes, and the view stays valid as long as one of them lives.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace hespas {

class Content {
 public:
  Content() : Content(std::string()) {}
  Content(std::string text) {
    const auto owner = std::make_shared<const std::string>(std::move(text));
    view_ = *owner;
    owner_ = owner;
  }
  Content(const char* text) : Content(std::string(text)) {}
  // `view` lives as long as `owner`.
  Content(std::shared_ptr<const void> owner, std::string_view view) : owner_(std::move(owner)), view_(view) {}

  std::string_view view() const { return view_; }

 private:
  std::shared_ptr<const void> owner_;
  std::string_view view_;
};

// The bytes of `path` as they are; "-" is standard input. A large file must not be cut short while it is in use.
Result<Content> ReadContent(const std::string& path);

// What `content` holds: gzip and zstd are decompressed; `path` is only a name for messages.
Result<Content> Decompress(Content content, const std::string& path);

}  // namespace hespas
