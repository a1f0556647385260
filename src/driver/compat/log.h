// Log lines as the prototype shapes them. The lines go to a sink that the command gives; libraries print nothing.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace hespas::driver::compat {

// Python's levels and the prototype's two own ones.
enum class Level : int {
  kDebug = 10,
  kInfo = 20,
  kProgress = 21,
  kResults = 22,
  kWarning = 30,
  kError = 40,
  kCritical = 50
};

std::optional<Level> LevelByName(std::string_view name);

class Log {
 public:
  using Sink = std::function<void(std::string_view line)>;  // a line with its newline

  Log(Sink sink, Level threshold, size_t columns = 80)
      : sink_(std::move(sink)), threshold_(threshold), columns_(columns) {}

  void Info(std::string_view text) const { Write(Level::kInfo, "[INFO] ", text); }
  void Progress(std::string_view text) const { Write(Level::kProgress, "", text); }
  void Results(std::string_view text) const { Write(Level::kResults, "", text); }
  void Warning(std::string_view logger, std::string_view text) const;
  std::string divider() const { return std::string(columns_, '-'); }

 private:
  void Write(Level level, std::string_view prefix, std::string_view text) const;

  Sink sink_;
  Level threshold_;
  size_t columns_;
};

}  // namespace hespas::driver::compat
