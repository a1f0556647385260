// Without SQLite no estimate is kept between runs.
#include "base/left_out.h"
#include "estimate/cache/sqlite_cache.h"

namespace hespas::estimate {
namespace {

class NoCache final : public EstimateCache {
  std::optional<graph::Estimate> Find(Hash128) override { return std::nullopt; }
  void Store(Hash128, const graph::Estimate&) override {}
};

}  // namespace

std::unique_ptr<EstimateCache> OpenCache(const std::string&, Diagnostics& diagnostics) {
  diagnostics.Warning(kCacheNotWritten, LeftOut("cache of estimates in a file").message);
  return std::make_unique<NoCache>();
}

Result<CacheStatistics> ReadCacheStatistics(const std::string&) { return LeftOut("cache of estimates in a file"); }
Result<int64_t> PruneCache(const std::string&, int64_t) { return LeftOut("cache of estimates in a file"); }
Result<std::string> ExportCache(const std::string&) { return LeftOut("cache of estimates in a file"); }

}  // namespace hespas::estimate
