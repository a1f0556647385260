// A sweep's output folder: rows.jsonl grows as points finish, rows.csv follows at the end, sweep.json says which sweep.
//
// - One process at a time writes (a lock). Rows are whole lines: what a killed process left half written is cut off,
//   and every point stands there once. The rows of a point are the same bytes wherever they were made.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_set>
#include <vector>

#include "sweep/answer/row.h"

namespace hespas::sweep {

inline constexpr DiagnosticKind kOtherSweep{
    "E1008",
    "The output folder holds rows of another sweep, or files that no sweep made. Choose another folder, or --clean.",
    Outcome::kUsage};
inline constexpr DiagnosticKind kLocked{
    "E1009", "Another process is writing into this output folder. Wait for it, or choose another folder.",
    Outcome::kCannotRun};

class Store {
 public:
  // Takes the lock; `clean` removes what an earlier sweep left.
  static Result<std::unique_ptr<Store>> Open(const std::string& folder, const SweepFile& file, bool clean);
  ~Store();
  Store(const Store&) = delete;
  Store& operator=(const Store&) = delete;

  bool Has(uint64_t point) const { return known_.contains(point); }
  size_t known() const { return known_.size(); }
  // Thread-safe. Lines reach the file after a tenth of a second at the latest, while rows come.
  Status Add(const std::string& line);
  Status Flush();
  // Rows of a file of JSON lines whose points are not there yet.
  Status AddRows(const std::string& path);
  // rows.csv, in the order of the points.
  Status WriteCsv() const;

 private:
  Store(std::string folder, int lock) : folder_(std::move(folder)), lock_(lock) {}
  Status Begin(const SweepFile& file, bool clean);
  Status ReadRows();
  Status FlushLocked();

  std::string folder_;
  int lock_ = -1;
  int rows_ = -1;
  std::unordered_set<uint64_t> known_;
  std::mutex mutex_;
  std::string buffer_;
  std::chrono::steady_clock::time_point flushed_ = std::chrono::steady_clock::now();
};

// The rows of a folder, or of a file of JSON lines, in the order of their points.
Result<std::vector<Json>> ReadRows(const std::string& folder_or_file);
// What sweep.json says.
Result<Json> ReadManifest(const std::string& folder);

// A header and a line for each row.
std::string CsvOf(const std::vector<Json>& rows);

}  // namespace hespas::sweep
