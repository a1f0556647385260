#include "driver/inspect/tables/doctor.h"

#include <fmt/format.h>

#include <chrono>
#include <string_view>

#include "base/system/process.h"
#include "base/version.h"
#include "estimate/registry.h"
#include "hardware/presets.h"

namespace hespas::driver {
namespace {

struct Tool {
  std::string_view name;
  std::vector<std::string> programs;  // any of them
  std::vector<std::string> ask;       // arguments that print a version
  std::string_view purpose;
  std::string_view remedy;
};

const std::vector<Tool>& Tools() {
  static const std::vector<Tool> tools = {
      {"Python", {"python3"}, {"--version"}, "the Python package, hespas export", "apt install python3 python3-venv"},
      {"IREE compiler", {"iree-compile"}, {"--version"}, "estimators ptx and iree", "pip install iree-base-compiler"},
      {"IREE benchmark",
       {"iree-benchmark-module"},
       {"--version"},
       "profiling estimator iree",
       "pip install iree-base-runtime"},
      {"nvidia-smi",
       {"nvidia-smi"},
       {"--query-gpu=name,driver_version", "--format=csv,noheader"},
       "measuring on a GPU of this machine",
       "no NVIDIA driver; only measuring on a GPU needs one"},
      {"ccache", {"ccache"}, {"--version"}, "faster builds", "apt install ccache"},
      {"mold", {"mold"}, {"--version"}, "faster links", "apt install mold"},
  };
  return tools;
}

std::string FirstLine(std::string_view text) {
  const size_t start = text.find_first_not_of(" \n\r\t");
  if (start == std::string_view::npos) return {};
  const size_t end = text.find('\n', start);
  return std::string(text.substr(start, end == std::string_view::npos ? end : end - start));
}

std::vector<std::string> Row(const Tool& tool) {
  const std::string path = FindProgram(tool.programs);
  if (path.empty()) {
    return {std::string(tool.name), "missing", "", fmt::format("{}; {}", tool.purpose, tool.remedy)};
  }
  std::vector<std::string> words{path};
  words.insert(words.end(), tool.ask.begin(), tool.ask.end());
  const auto answer = RunProcess(words, {}, std::chrono::seconds(20));
  const bool works = answer && answer->status == 0;
  const std::string said = answer ? FirstLine(answer->output) : answer.error().message;
  return {std::string(tool.name), works ? "ok" : "broken", works ? fmt::format("{} ({})", said, path) : said,
          std::string(tool.purpose)};
}

std::vector<std::string> DataRow() {
  const auto folder = hardware::DataFolder();
  if (!folder) return {"data", "missing", "", folder.error().message};
  const auto count = [](hardware::PresetKind kind) { return hardware::PresetNames(kind).size(); };
  return {"data", "ok", folder->string(),
          fmt::format("{} devices, {} systems", count(hardware::PresetKind::kDevice),
                      count(hardware::PresetKind::kSystem))};
}

// Why it cannot be made for any of these devices; empty where it can.
std::string WhyUnavailable(const estimate::EstimatorEntry& entry) {
  std::string reason;
  for (const char* name : {"TPUv3", "A100_SXM_80GB"}) {
    Diagnostics diagnostics;
    const auto device = hardware::LoadDevice(name, diagnostics);
    if (!device) {
      reason = diagnostics.all().front().message;
      continue;
    }
    const auto made = entry.make(*device, {});
    if (made) return {};
    reason = made.error().message;
  }
  return reason;
}

void AddEstimators(report::Table& table) {
  for (const estimate::EstimatorEntry& entry : estimate::Estimators()) {
    const std::string reason = WhyUnavailable(entry);
    table.rows.push_back({fmt::format("estimator {}", entry.name), reason.empty() ? "ok" : "missing", "",
                          reason.empty() ? std::string(entry.summary) : reason});
  }
}

}  // namespace

report::Table Examine() {
  report::Table table{.columns = {{"what"}, {"state"}, {"version"}, {"note"}}, .rows = {}};
  table.rows.push_back({"hespas", "ok", kVersion, fmt::format("built with {} {}", "g++", __VERSION__)});
  table.rows.push_back(DataRow());
  AddEstimators(table);
  for (const Tool& tool : Tools()) table.rows.push_back(Row(tool));
  return table;
}

}  // namespace hespas::driver
