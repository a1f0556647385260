#include "driver/compat/cache_import.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "base/system/file.h"
#include "base/text/json.h"
#include "estimate/cache/sqlite_cache.h"
#include "estimate/registry.h"
#include "read/read.h"
#include "split/structure_hash.h"

namespace hespas::driver {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

struct Entry {
  std::string estimator;
  std::string module_file;
  double seconds = 0;
  int64_t flops = 0;
  int64_t bytes = 0;
  hardware::Device device;
};

// The prototype stores options as they were converted: numbers, or texts that hold one.
double Number(const Json& object, const char* key) {
  const auto found = object.find(key);
  if (found == object.end()) return 0;
  if (found->is_number()) return found->get<double>();
  return found->is_string() ? std::strtod(found->get<std::string>().c_str(), nullptr) : 0;
}

std::optional<hardware::Device> DeviceOf(const Json& options) {
  const auto nested = options.find("roofline");
  const Json& figures = nested != options.end() && nested->is_object() ? *nested : options;
  hardware::Device device;
  device.peak_flops = {std::trunc(Number(figures, "peak_flops"))};
  device.memory_bandwidth = {std::trunc(Number(figures, "memory_bandwidth"))};
  if (device.peak_flops.value < 1 || device.memory_bandwidth.value < 1) return std::nullopt;
  const auto table = figures.find("per_datatype_flops");
  if (table != figures.end() && table->is_object()) {
    for (const auto& [datatype, rate] : table->items())
      if (rate.is_number()) device.per_datatype_flops[datatype] = {rate.get<double>()};
  }
  return device;
}

std::optional<Entry> ReadEntry(const fs::path& path) {
  const auto text = ReadInput(path.string());
  if (!text) return std::nullopt;
  const Json json = ReadJson(*text);
  if (!json.is_object() || !json.contains("result") || !json["result"].is_object()) return std::nullopt;
  const Json& result = json["result"];
  // A file is only believed under the name that it gives itself, as by the prototype.
  const std::string hash = json.value("hash", Json()).is_string() ? json["hash"].get<std::string>() : "";
  if (hash != path.filename().string() || result.value("success", Json()) != Json(true)) return std::nullopt;
  const auto seconds = result.find("runtime_estimate");
  const auto file = result.find("module_file");
  const auto name = json.find("estimator_name");
  if (seconds == result.end() || !seconds->is_number() || file == result.end() || !file->is_string() ||
      name == json.end() || !name->is_string() || !json.value("hw_config", Json()).is_object())
    return std::nullopt;
  auto device = DeviceOf(json["hw_config"]);
  if (!device || !(seconds->get<double>() >= 0)) return std::nullopt;
  Entry entry{.estimator = name->get<std::string>(),
              .module_file = file->get<std::string>(),
              .seconds = seconds->get<double>(),
              .device = *std::move(device)};
  const Json statistics = result.value("statistics", Json::object());
  if (statistics.is_object()) {
    entry.flops = internal::SaturatingRound(Number(statistics, "flops"));
    entry.bytes = internal::SaturatingRound(Number(statistics, "mem_bytes"));
  }
  return entry;
}

std::optional<fs::path> FindModule(const fs::path& folder, const std::string& module_file) {
  const fs::path name = module_file;
  std::error_code error;
  for (const fs::path& path : {name, folder / name, folder.parent_path() / name.filename(), folder / name.filename()}) {
    if (fs::is_regular_file(path, error)) return path;
  }
  return std::nullopt;
}

// The structure of the module's `main`, its `return` aside, as a block of a compat run has it.
std::optional<Hash128> StructureOf(const fs::path& path) {
  Diagnostics unread;
  const auto module = read::ReadProgram(path.string(), {}, unread);
  if (!module) return std::nullopt;
  const auto main = read::RequireMain(*module);
  if (!main || !module->body(*main).valid()) return std::nullopt;
  auto ops = module->block(module->body(*main)).ops;
  if (!ops.empty() && ir::IsTerminator(module->kind(ops.back()))) ops.pop_back();
  return split::StructureHasher(*module, true).Block(ops);
}

class Importer {
 public:
  Importer(const fs::path& folder, estimate::EstimateCache& cache) : folder_(folder), cache_(cache) {}

  bool Import(const fs::path& path) {
    const auto entry = ReadEntry(path);
    if (!entry) return Skip("damaged or a failure");
    const auto estimator = estimate::MakeEstimator(entry->estimator, entry->device, {.compat = true});
    if (!estimator) return Skip(fmt::format("estimator `{}` is not built in", entry->estimator));
    const auto module = FindModule(folder_, entry->module_file);
    const auto structure = module ? StructureOf(*module) : std::nullopt;
    if (!structure) return Skip("block module missing or unreadable");
    cache_.Store(Combine(*structure, (*estimator)->key()), {.time = Time::Seconds(entry->seconds),
                                                            .flops = Flops(entry->flops),
                                                            .bytes = Bytes(entry->bytes),
                                                            .source = "prototype"});
    return true;
  }

  std::string Reasons() const {
    std::string out;
    for (const auto& [reason, count] : skipped_) out += fmt::format("{}{}: {}", out.empty() ? "" : "; ", reason, count);
    return out;
  }

 private:
  bool Skip(const std::string& reason) {
    ++skipped_[reason];
    return false;
  }

  fs::path folder_;
  estimate::EstimateCache& cache_;
  std::map<std::string, int64_t> skipped_;
};

}  // namespace

Result<CacheImport> ImportPrototypeCache(const std::string& path, const std::string& folder, Diagnostics& diagnostics) {
  std::error_code error;
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (entry.is_regular_file(error)) files.push_back(entry.path());
  }
  if (files.empty()) return MakeError(kNoPrototypeCache, fmt::format("`{}` holds no files", folder));
  std::sort(files.begin(), files.end());
  const auto cache = estimate::OpenCache(path, diagnostics);
  Importer importer(folder, *cache);
  CacheImport out;
  for (const fs::path& file : files) ++(importer.Import(file) ? out.imported : out.skipped);
  if (out.skipped > 0)
    diagnostics.Warning(kNotImported, fmt::format("{} of {} files were not imported ({})", out.skipped, files.size(),
                                                  importer.Reasons()));
  return out;
}

}  // namespace hespas::driver
