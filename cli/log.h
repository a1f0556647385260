// The log of a command: stages with their times, on stderr or appended to a file.
#pragma once

#include <string>

#include "base/result.h"

namespace hespas::cli {

// `level`: the prototype's names; "progress" and "results" lie between info and warning. `path` empty: stderr.
Status StartLog(const std::string& level, const std::string& path);

}  // namespace hespas::cli
