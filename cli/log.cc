#include "cli/log.h"

#include <fmt/format.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <memory>

#include "base/file.h"

namespace hespas::cli {
namespace {

spdlog::level::level_enum LevelOf(const std::string& name) {
  if (name == "critical") return spdlog::level::critical;
  if (name == "error") return spdlog::level::err;
  if (name == "debug") return spdlog::level::debug;
  if (name == "info") return spdlog::level::info;
  return spdlog::level::warn;
}

}  // namespace

Status StartLog(const std::string& level, const std::string& path) {
  spdlog::sink_ptr sink;
  try {
    if (path.empty()) {
      sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
    } else {
      sink = std::make_shared<spdlog::sinks::basic_file_sink_mt>(path);
    }
  } catch (const spdlog::spdlog_ex& error) {
    return MakeError(kCannotWrite, fmt::format("cannot open the log file `{}`", path), {}, error.what());
  }
  auto logger = std::make_shared<spdlog::logger>("hespas", std::move(sink));
  logger->set_level(LevelOf(level));
  logger->set_pattern("[%l] %v");
  spdlog::set_default_logger(std::move(logger));
  return {};
}

}  // namespace hespas::cli
