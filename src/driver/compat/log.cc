#include "driver/compat/log.h"

#include <fmt/format.h>

#include <ctime>

namespace hespas::driver::compat {
namespace {

struct LevelRow {
  std::string_view name;
  Level level;
};

constexpr LevelRow kLevels[] = {
    {"debug", Level::kDebug},       {"info", Level::kInfo},       {"progress", Level::kProgress},
    {"results", Level::kResults},   {"warning", Level::kWarning}, {"error", Level::kError},
    {"critical", Level::kCritical},
};

std::string Now() {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &local);
  return text;
}

}  // namespace

std::optional<Level> LevelByName(std::string_view name) {
  for (const LevelRow& row : kLevels) {
    if (row.name == name) return row.level;
  }
  return std::nullopt;
}

void Log::Warning(std::string_view logger, std::string_view text) const {
  Write(Level::kWarning, fmt::format("[WARNING] {}: ", logger), text);
}

void Log::Write(Level level, std::string_view prefix, std::string_view text) const {
  if (level < threshold_ || !sink_) return;
  const std::string time = threshold_ <= Level::kDebug ? Now() + " " : std::string();
  sink_(fmt::format("{}{}{}\n", time, prefix, text));
}

}  // namespace hespas::driver::compat
