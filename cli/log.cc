#include "cli/log.h"

#include <fmt/format.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/spdlog.h>

#include <memory>

#include "base/system/file.h"

namespace hespas::cli {
namespace {

spdlog::level::level_enum LevelOf(const std::string& name) {
  if (name == "critical") return spdlog::level::critical;
  if (name == "error") return spdlog::level::err;
  if (name == "debug") return spdlog::level::debug;
  if (name == "info") return spdlog::level::info;
  return spdlog::level::warn;
}

class FileSink : public spdlog::sinks::base_sink<std::mutex> {
 public:
  explicit FileSink(LogFile file) : file_(std::move(file)) {}

 protected:
  void sink_it_(const spdlog::details::log_msg& message) override {
    fmt::print(file_.get(), "[{}] {}\n", spdlog::level::to_string_view(message.level), message.payload);
    std::fflush(file_.get());
  }
  void flush_() override { std::fflush(file_.get()); }

 private:
  LogFile file_;
};

}  // namespace

Result<LogFile> OpenLog(const std::string& path) {
  if (path.empty()) return LogFile(stderr, [](std::FILE*) { return 0; });
  if (std::FILE* file = std::fopen(path.c_str(), "a")) return LogFile(file, std::fclose);
  return MakeError(kCannotWrite, fmt::format("cannot open the log file `{}`", path));
}

Status StartLog(const std::string& level, const std::string& path) {
  auto file = OpenLog(path);
  if (!file) return file.error();
  auto logger = std::make_shared<spdlog::logger>("hespas", std::make_shared<FileSink>(*std::move(file)));
  logger->set_level(LevelOf(level));
  spdlog::set_default_logger(std::move(logger));
  return {};
}

}  // namespace hespas::cli
