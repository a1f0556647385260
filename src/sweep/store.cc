#include "sweep/store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <sstream>

#include "base/system/file.h"
#include "base/text/hash.h"
#include "base/text/json.h"
#include "base/version.h"

namespace hespas::sweep {
namespace {

namespace fs = std::filesystem;

constexpr size_t kBuffer = size_t{1} << 16;
constexpr auto kDelay = std::chrono::milliseconds(100);
constexpr std::string_view kStart = "{\"point\":";

Error CannotWrite(const std::string& path, int error) {
  return MakeError(kCannotWrite, fmt::format("cannot write `{}`: {}", path, std::strerror(error)));
}

std::optional<uint64_t> PointOf(std::string_view line) {
  if (!line.starts_with(kStart) || !line.ends_with('}')) return std::nullopt;
  uint64_t point = 0;
  const auto [end, error] = std::from_chars(line.data() + kStart.size(), line.data() + line.size(), point);
  return error == std::errc() ? std::optional(point) : std::nullopt;
}

Json ManifestOf(const SweepFile& file) {
  Json manifest = Json::object();
  manifest["schema_version"] = 1;
  manifest["version"] = kVersion;
  manifest["path"] = file.path;
  manifest["definition"] = file.definition;
  manifest["tokens"] = file.economy.tokens;
  manifest["prices"] = Json(file.economy.prices);
  manifest["minimise"] = file.minimise;
  for (const Expression& constraint : file.constraints) manifest["constraints"].push_back(constraint.text());
  return manifest;
}

// Goals may change from run to run; rows do not know them.
bool SameRows(const Json& a, const Json& b) {
  constexpr const char* kKeys[] = {"definition", "tokens", "prices", "version"};
  return std::all_of(std::begin(kKeys), std::end(kKeys),
                     [&](const char* key) { return a.value(key, Json()) == b.value(key, Json()); });
}

std::string Cell(const Json& value) {
  if (value.is_null()) return {};
  std::string text = TextOf(value);
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + "\"";
}

}  // namespace

Result<std::unique_ptr<Store>> Store::Open(const std::string& folder, const SweepFile& file, bool clean) {
  if (Status made = MakeFolder(folder); !made) return made.error();
  const std::string path = folder + "/.lock";
  const int lock = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (lock < 0) return CannotWrite(path, errno);
  std::unique_ptr<Store> store(new Store(folder, lock));
  if (flock(lock, LOCK_EX | LOCK_NB) != 0) {
    return MakeError(kLocked, fmt::format("another sweep is writing into `{}`", folder), {},
                     "wait for it to end, or choose another --output");
  }
  if (Status begun = store->Begin(file, clean); !begun) return begun.error();
  return store;
}

Store::~Store() {
  if (rows_ >= 0) close(rows_);
  if (lock_ >= 0) close(lock_);
}

Status Store::Begin(const SweepFile& file, bool clean) {
  const std::string manifest = folder_ + "/sweep.json";
  const std::string rows = folder_ + "/rows.jsonl";
  std::error_code error;
  if (clean) {
    for (const std::string& old : {manifest, rows, folder_ + "/rows.csv"}) fs::remove(old, error);
  }
  const Json wanted = ManifestOf(file);
  if (fs::exists(manifest, error)) {
    const auto found = ReadManifest(folder_);
    if (!found || !SameRows(*found, wanted)) {
      return MakeError(kOtherSweep, fmt::format("`{}` holds rows of another sweep", folder_), {},
                       "choose another --output, or give --clean to replace them");
    }
  } else if (fs::exists(rows, error)) {
    return MakeError(kOtherSweep, fmt::format("`{}` holds rows, but no sweep.json says of what", folder_), {},
                     "choose another --output, or give --clean to replace them");
  }
  if (Status written = WriteFileAtomically(manifest, JsonText(wanted, 2) + "\n"); !written) return written;
  rows_ = open(rows.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
  if (rows_ < 0) return CannotWrite(rows, errno);
  return ReadRows();
}

Status Store::ReadRows() {
  const auto text = ReadRaw(folder_ + "/rows.jsonl");
  if (!text) return text.error();
  const size_t last = text->rfind('\n');
  const size_t whole = last == std::string::npos ? 0 : last + 1;
  if (whole < text->size() && ftruncate(rows_, static_cast<off_t>(whole)) != 0)
    return CannotWrite(folder_ + "/rows.jsonl", errno);
  for (size_t at = 0; at < whole;) {
    const size_t end = text->find('\n', at);
    const auto point = PointOf(std::string_view(*text).substr(at, end - at));
    if (!point) return MakeError(kOtherSweep, fmt::format("`{}/rows.jsonl` has a line that is no row", folder_));
    known_.insert(*point);
    at = end + 1;
  }
  return {};
}

Status Store::Add(const std::string& line) {
  const std::lock_guard lock(mutex_);
  buffer_ += line;
  if (buffer_.size() < kBuffer && std::chrono::steady_clock::now() - flushed_ < kDelay) return {};
  return FlushLocked();
}

Status Store::AddRows(const std::string& path) {
  const auto text = ReadInput(path);
  if (!text) return text.error();
  for (size_t at = 0; at < text->size();) {
    const size_t end = std::min(text->find('\n', at), text->size());
    const std::string line = text->substr(at, end - at);
    const auto point = PointOf(line);
    if (!point) return MakeError(kOtherSweep, fmt::format("`{}` has a line that is no row", path));
    if (known_.insert(*point).second) {
      if (Status added = Add(line + '\n'); !added) return added;
    }
    at = end + 1;
  }
  return {};
}

Status Store::Flush() {
  const std::lock_guard lock(mutex_);
  return FlushLocked();
}

Status Store::FlushLocked() {
  flushed_ = std::chrono::steady_clock::now();
  size_t done = 0;
  while (done < buffer_.size()) {
    const ssize_t wrote = write(rows_, buffer_.data() + done, buffer_.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) {
      const int error = errno;
      buffer_.erase(0, done);  // what a full disk took stands there
      return CannotWrite(folder_ + "/rows.jsonl", error);
    }
    done += static_cast<size_t>(wrote);
  }
  buffer_.clear();
  return {};
}

Status Store::WriteCsv() const {
  const auto rows = sweep::ReadRows(folder_);
  if (!rows) return rows.error();
  return WriteFileAtomically(folder_ + "/rows.csv", CsvOf(*rows));
}

Result<std::vector<Json>> ReadRows(const std::string& folder_or_file) {
  std::error_code error;
  const bool folder = fs::is_directory(folder_or_file, error);
  const std::string path = folder ? folder_or_file + "/rows.jsonl" : folder_or_file;
  const auto text = ReadInput(path);
  if (!text) return text.error();
  std::vector<Json> rows;
  std::istringstream lines(*text);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || (lines.eof() && !line.ends_with('}'))) continue;
    Json row = ReadOrderedJson(line);
    if (!row.is_object() || !row.contains("point"))
      return MakeError(kOtherSweep, fmt::format("`{}` has a line that is no row of a sweep", path));
    rows.push_back(std::move(row));
  }
  std::stable_sort(rows.begin(), rows.end(), [](const Json& a, const Json& b) {
    return a["point"].get<uint64_t>() < b["point"].get<uint64_t>();
  });
  return rows;
}

Result<Json> ReadManifest(const std::string& folder) {
  const auto text = ReadInput(folder + "/sweep.json");
  if (!text) return text.error();
  Json manifest = ReadOrderedJson(*text);
  if (manifest.is_object()) return manifest;
  return MakeError(kOtherSweep, fmt::format("`{}/sweep.json` is no sweep's", folder));
}

std::string CsvOf(const std::vector<Json>& rows) {
  std::string out;
  if (rows.empty()) return out;
  const auto line = [&](const auto& text_of) {
    bool first = true;
    for (const auto& [key, value] : rows[0].items()) {
      out += first ? "" : ",";
      out += text_of(key);
      first = false;
    }
    out += '\n';
  };
  line([](const std::string& key) { return Cell(key); });
  for (const Json& row : rows) line([&](const std::string& key) { return Cell(row.value(key, Json())); });
  return out;
}

}  // namespace hespas::sweep
