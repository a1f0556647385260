// The log of a command: stages with their times, on stderr or appended to a file.
#pragma once

#include <cstdio>
#include <memory>
#include <string>

#include "base/result.h"

namespace hespas::cli {

// Where log lines go: the file at `path`, appended to, or stderr where that is empty.
using LogFile = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;
Result<LogFile> OpenLog(const std::string& path);

// `level`: the prototype's names; "progress" and "results" lie between info and warning. `path` empty: stderr.
Status StartLog(const std::string& level, const std::string& path);

}  // namespace hespas::cli
