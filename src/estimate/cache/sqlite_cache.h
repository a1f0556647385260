// Estimates kept in one SQLite file across runs and processes.
//
// - Many processes may use the file at once (write-ahead log); one that is killed leaves it sound.
// - A file that is damaged, or a row whose checksum is wrong, is never believed: the file is set aside and a new one
// begun,
//   with a warning; the row counts as absent.
// - A full or read-only disk costs reuse, not the run: what cannot be written is told once.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "estimate/cache/cache.h"

namespace hespas::estimate {

inline constexpr DiagnosticKind kCacheRebuilt{
    "W0520",
    "The file of the estimate cache was damaged or of another kind. It was renamed (its name now ends in "
    "`.damaged`) and a new one was started; no estimate of the old one is used."};
inline constexpr DiagnosticKind kCacheNotWritten{
    "W0521",
    "The estimate cache could not be written (full or read-only disk, or a folder that is missing). The run "
    "goes on; its estimates are not kept."};
inline constexpr DiagnosticKind kCacheUnreadable{"E0522", "The file of the estimate cache could not be opened."};

// Opens or creates the file. Failures other than of the arguments leave a cache that keeps nothing, and a warning.
// `diagnostics` must outlive the cache.
std::unique_ptr<EstimateCache> OpenCache(const std::string& path, Diagnostics& diagnostics);

struct CacheStatistics {
  int64_t entries = 0;
  int64_t models = 0;  // distinct estimators, devices and options
  int64_t damaged = 0;
  int64_t bytes = 0;  // of the file
  int64_t oldest_days = 0;
};
Result<CacheStatistics> ReadCacheStatistics(const std::string& path);

// Removes entries older than `days`; returns how many.
Result<int64_t> PruneCache(const std::string& path, int64_t days);

// One JSON object a line: key, created, estimate.
Result<std::string> ExportCache(const std::string& path);

}  // namespace hespas::estimate
