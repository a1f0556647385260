// The two compressions in which programs come. Without HESPAS_WITH_COMPRESSION the program that links the libraries
// defines both functions.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace hespas {

inline constexpr uint64_t kMaximumInput = uint64_t{1} << 36;  // 64 GiB, also after decompression

// All members of gzip data and all frames of zstd data; `path` is for messages.
Result<std::string> Gunzip(std::string_view in, const std::string& path);
Result<std::string> Unzstd(std::string_view in, const std::string& path);

}  // namespace hespas
