#include "estimate/cache/sqlite_cache.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <mutex>
#include <utility>
#include <vector>

#include "estimate/cache/estimate_text.h"

namespace hespas::estimate {
namespace {

namespace fs = std::filesystem;

constexpr int kApplicationId = 0x48455350;  // "HESP"
constexpr int kSchemaVersion = 1;
constexpr int kBusyMilliseconds = 10'000;
constexpr size_t kBatch = 4096;

struct CloseDatabase {
  void operator()(sqlite3* database) const { sqlite3_close(database); }
};
struct FinishStatement {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Database = std::unique_ptr<sqlite3, CloseDatabase>;
using Statement = std::unique_ptr<sqlite3_stmt, FinishStatement>;

Statement Prepare(sqlite3* database, const char* sql) {
  sqlite3_stmt* statement = nullptr;
  sqlite3_prepare_v2(database, sql, -1, &statement, nullptr);
  return Statement(statement);
}

bool Execute(sqlite3* database, const char* sql) {
  return sqlite3_exec(database, sql, nullptr, nullptr, nullptr) == SQLITE_OK;
}

int64_t Integer(sqlite3* database, const char* sql) {
  const Statement statement = Prepare(database, sql);
  if (statement == nullptr || sqlite3_step(statement.get()) != SQLITE_ROW) return -1;
  return sqlite3_column_int64(statement.get(), 0);
}

std::string_view Text(sqlite3_stmt* statement, int column) {
  const auto* text = static_cast<const char*>(sqlite3_column_blob(statement, column));
  const int size = sqlite3_column_bytes(statement, column);
  return text == nullptr ? std::string_view() : std::string_view(text, static_cast<size_t>(size));
}

void Bind(sqlite3_stmt* statement, int index, std::string_view text) {
  sqlite3_bind_blob(statement, index, text.data(), static_cast<int>(text.size()), SQLITE_TRANSIENT);
}

// Binds a value to its key, so that neither a changed value nor one under a wrong key is believed.
int64_t Checksum(std::string_view key, std::string_view value) {
  return static_cast<int64_t>(Combine(HashBytes(key), HashBytes(value)).low);
}

enum class Opened { kGood, kDamaged, kImpossible };

Opened CheckSnapshot(sqlite3* database) {
  const int64_t id = Integer(database, "PRAGMA application_id");
  const int64_t tables = Integer(database, "SELECT count(*) FROM sqlite_master");
  if (id < 0 || tables < 0) {
    const int code = sqlite3_errcode(database);
    return code == SQLITE_NOTADB || code == SQLITE_CORRUPT ? Opened::kDamaged : Opened::kImpossible;
  }
  if (tables == 0 && id == 0) return Opened::kGood;
  if (id != kApplicationId || Integer(database, "PRAGMA user_version") != kSchemaVersion) return Opened::kDamaged;
  const Statement check = Prepare(database, "PRAGMA quick_check(1)");
  if (check == nullptr || sqlite3_step(check.get()) != SQLITE_ROW) return Opened::kDamaged;
  return Text(check.get(), 0) == "ok" ? Opened::kGood : Opened::kDamaged;
}

// In one transaction: what another process creates meanwhile must not look like half a file.
Opened Check(sqlite3* database) {
  Execute(database, "BEGIN");
  const Opened opened = CheckSnapshot(database);
  Execute(database, "COMMIT");
  return opened;
}

bool CreateTables(sqlite3* database) {
  const std::string identify =
      fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {};", kApplicationId, kSchemaVersion);
  return Execute(database, "BEGIN IMMEDIATE") &&
         Execute(database,
                 "CREATE TABLE IF NOT EXISTS estimates (key BLOB PRIMARY KEY, created INTEGER NOT NULL, "
                 "value BLOB NOT NULL, checksum INTEGER NOT NULL) WITHOUT ROWID") &&
         Execute(database, identify.c_str()) && Execute(database, "COMMIT");
}

Opened Open(const std::string& path, Database& database, int flags) {
  sqlite3* raw = nullptr;
  const int code = sqlite3_open_v2(path.c_str(), &raw, flags, nullptr);
  database.reset(raw);
  if (code != SQLITE_OK) return Opened::kImpossible;
  sqlite3_busy_timeout(raw, kBusyMilliseconds);
  return Check(raw);
}

// Moves a damaged file (and its log) out of the way.
bool SetAside(const std::string& path) {
  std::error_code error;
  fs::rename(path, path + ".damaged", error);
  for (const char* suffix : {"-wal", "-shm"}) {
    std::error_code ignored;
    fs::remove(path + suffix, ignored);
  }
  return !error;
}

// Processes open and create a cache one after the other: SQLite's switch to WAL does not wait for others, and a file
// must not be set aside while another process makes it. Locks the folder, so that no lock file is left behind.
class OpeningLock {
 public:
  explicit OpeningLock(const std::string& path) {
    const fs::path folder = fs::path(path).parent_path();
    descriptor_ = open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    while (descriptor_ >= 0 && flock(descriptor_, LOCK_EX) != 0 && errno == EINTR) {
    }
  }
  ~OpeningLock() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  OpeningLock(const OpeningLock&) = delete;
  OpeningLock& operator=(const OpeningLock&) = delete;

 private:
  int descriptor_ = -1;
};

class SqliteCache : public EstimateCache {
 public:
  SqliteCache(const std::string& path, Diagnostics& diagnostics) : path_(path), diagnostics_(diagnostics) { Start(); }

  ~SqliteCache() override {
    const std::lock_guard lock(mutex_);
    Flush();
    find_.reset();
    const OpeningLock closing(path_);  // the last to close removes the log that the next to open would read
    database_.reset();
  }

  std::optional<graph::Estimate> Find(Hash128 key) override {
    const std::lock_guard lock(mutex_);
    if (find_ == nullptr) return std::nullopt;
    const std::string name = key.hex();
    sqlite3_reset(find_.get());
    Bind(find_.get(), 1, name);
    if (sqlite3_step(find_.get()) != SQLITE_ROW) return std::nullopt;
    const std::string_view value = Text(find_.get(), 0);
    if (sqlite3_column_int64(find_.get(), 1) != Checksum(name, value)) return std::nullopt;
    return EstimateFromText(value);
  }

  void Store(Hash128 key, const graph::Estimate& estimate) override {
    const std::lock_guard lock(mutex_);
    if (find_ == nullptr) return;
    pending_.emplace_back(key.hex(), EstimateToText(estimate));
    // What was measured took seconds: nothing of it may be lost.
    if (pending_.size() >= kBatch || estimate.bound == graph::Bound::kMeasured) Flush();
  }

 private:
  void Start() {
    const OpeningLock lock(path_);
    constexpr int kFlags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    Opened opened = Open(path_, database_, kFlags);
    if (opened == Opened::kDamaged) {
      database_.reset();
      if (SetAside(path_)) {
        diagnostics_.Warning(kCacheRebuilt,
                             fmt::format("the estimate cache `{}` was damaged; a new one was started", path_));
        opened = Open(path_, database_, kFlags);
      }
    }
    const bool good = opened == Opened::kGood && Execute(database_.get(), "PRAGMA journal_mode = WAL") &&
                      Execute(database_.get(), "PRAGMA synchronous = NORMAL") && CreateTables(database_.get());
    if (!good) return GiveUp();
    find_ = Prepare(database_.get(), "SELECT value, checksum FROM estimates WHERE key = ?");
  }

  void Flush() {
    if (pending_.empty() || database_ == nullptr) return;
    // A row that is still being read holds an old snapshot, from which SQLite refuses to write where others have
    // written.
    sqlite3_reset(find_.get());
    const Statement insert =
        Prepare(database_.get(), "INSERT OR REPLACE INTO estimates VALUES (?, strftime('%s', 'now'), ?, ?)");
    bool good = insert != nullptr && Execute(database_.get(), "BEGIN IMMEDIATE");
    for (const auto& [key, value] : pending_) {
      if (!good) break;
      sqlite3_reset(insert.get());
      Bind(insert.get(), 1, key);
      Bind(insert.get(), 2, value);
      sqlite3_bind_int64(insert.get(), 3, Checksum(key, value));
      good = sqlite3_step(insert.get()) == SQLITE_DONE;
    }
    good = good && Execute(database_.get(), "COMMIT");
    pending_.clear();
    if (good) return;
    GiveUp();
    if (sqlite3_get_autocommit(database_.get()) == 0) Execute(database_.get(), "ROLLBACK");
  }

  void GiveUp() {
    const std::string why = database_ != nullptr ? sqlite3_errmsg(database_.get()) : "it cannot be opened";
    diagnostics_.Warning(kCacheNotWritten, fmt::format("estimates are not kept in `{}`: {}", path_, why));
    find_.reset();
  }

  std::string path_;
  Diagnostics& diagnostics_;
  std::mutex mutex_;
  Database database_;
  Statement find_;  // absent where the cache keeps nothing
  std::vector<std::pair<std::string, std::string>> pending_;
};

Error Unreadable(const std::string& path, std::string_view why) {
  return MakeError(kCacheUnreadable, fmt::format("cannot read the estimate cache `{}`: {}", path, why), {},
                   "name the file that --cache was given");
}

Result<Database> OpenExisting(const std::string& path, int flags) {
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored)) return Unreadable(path, "there is no such file");
  Database database;
  const Opened opened = Open(path, database, flags);
  if (opened == Opened::kDamaged) return Unreadable(path, "it is damaged or no estimate cache");
  if (opened == Opened::kImpossible) return Unreadable(path, sqlite3_errmsg(database.get()));
  if (Integer(database.get(), "SELECT count(*) FROM sqlite_master") == 0) return Unreadable(path, "it is empty");
  return database;
}

}  // namespace

std::unique_ptr<EstimateCache> OpenCache(const std::string& path, Diagnostics& diagnostics) {
  return std::make_unique<SqliteCache>(path, diagnostics);
}

Result<CacheStatistics> ReadCacheStatistics(const std::string& path) {
  auto database = OpenExisting(path, SQLITE_OPEN_READWRITE);
  if (!database) return database.error();
  CacheStatistics statistics;
  const Statement rows = Prepare(database->get(), "SELECT key, value, checksum, created FROM estimates");
  const int64_t now = Integer(database->get(), "SELECT CAST(strftime('%s', 'now') AS INTEGER)");
  int64_t oldest = now;
  std::vector<std::string> models;
  while (rows != nullptr && sqlite3_step(rows.get()) == SQLITE_ROW) {
    ++statistics.entries;
    const std::string_view value = Text(rows.get(), 1);
    const bool good = sqlite3_column_int64(rows.get(), 2) == Checksum(Text(rows.get(), 0), value);
    const auto estimate = good ? EstimateFromText(value) : std::nullopt;
    if (!estimate) {
      ++statistics.damaged;
      continue;
    }
    oldest = std::min<int64_t>(oldest, sqlite3_column_int64(rows.get(), 3));
    const std::string source(estimate->source);
    if (std::find(models.begin(), models.end(), source) == models.end()) models.push_back(source);
  }
  statistics.models = static_cast<int64_t>(models.size());
  statistics.oldest_days = (now - oldest) / 86'400;
  std::error_code ignored;
  statistics.bytes = static_cast<int64_t>(fs::file_size(path, ignored));
  return statistics;
}

Result<int64_t> PruneCache(const std::string& path, int64_t days) {
  auto database = OpenExisting(path, SQLITE_OPEN_READWRITE);
  if (!database) return database.error();
  const std::string sql = fmt::format("DELETE FROM estimates WHERE created < strftime('%s', 'now') - {}",
                                      std::max<int64_t>(days, 0) * 86'400);
  if (!Execute(database->get(), sql.c_str())) return Unreadable(path, sqlite3_errmsg(database->get()));
  const int64_t removed = sqlite3_changes64(database->get());
  Execute(database->get(), "VACUUM");
  return removed;
}

Result<std::string> ExportCache(const std::string& path) {
  auto database = OpenExisting(path, SQLITE_OPEN_READWRITE);
  if (!database) return database.error();
  const Statement rows = Prepare(database->get(), "SELECT key, value, checksum, created FROM estimates ORDER BY key");
  std::string out;
  while (rows != nullptr && sqlite3_step(rows.get()) == SQLITE_ROW) {
    const std::string_view key = Text(rows.get(), 0);
    const std::string_view value = Text(rows.get(), 1);
    if (sqlite3_column_int64(rows.get(), 2) != Checksum(key, value) || !EstimateFromText(value)) continue;
    out += fmt::format("{{\"key\":\"{}\",\"created\":{},\"estimate\":{}}}\n", key, sqlite3_column_int64(rows.get(), 3),
                       value);
  }
  return out;
}

}  // namespace hespas::estimate
