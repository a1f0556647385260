#include "base/system/file.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>
#include <memory>
#include <optional>

#include "base/content.h"
#include "base/system/compression.h"
#include "base/system/temporary_name.h"

namespace hespas {
namespace {

constexpr size_t kChunk = size_t{1} << 20;

Error CannotRead(const std::string& path, int error) {
  return MakeError(kCannotRead, fmt::format("cannot read `{}`: {}", path, std::strerror(error)), {},
                   error == ENOENT ? "check the path for a misspelling" : "");
}

Result<std::string> ReadDescriptor(int fd, const std::string& path) {
  struct stat info {};
  if (fstat(fd, &info) != 0) return CannotRead(path, errno);
  if (S_ISDIR(info.st_mode)) return CannotRead(path, EISDIR);
  std::string content;
  size_t used = 0;
  if (S_ISREG(info.st_mode)) content.resize(static_cast<size_t>(info.st_size) + 1);
  while (true) {
    if (used == content.size()) content.resize(std::max(kChunk, content.size() * 2));
    const ssize_t got = read(fd, content.data() + used, content.size() - used);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return CannotRead(path, errno);
    if (got == 0) break;
    used += static_cast<size_t>(got);
    if (uint64_t{used} > kMaximumInput)
      return MakeError(kInputTooLarge, fmt::format("`{}` is larger than 64 GiB", path));
  }
  content.resize(used);
  return content;
}

constexpr std::string_view kGzip = "\x1f\x8b";
constexpr std::string_view kZstd = "\x28\xb5\x2f\xfd";

// The pages of a large regular file; nothing where reading serves better. The bytes behind its end, up to that of its
// last page, are zero: the NUL byte that readers rely on.
std::optional<Content> Map(const std::string& path) {
  constexpr int64_t kLarge = int64_t{16} << 20;
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return std::nullopt;
  struct stat info {};
  const bool fits = fstat(fd, &info) == 0 && S_ISREG(info.st_mode) && info.st_size >= kLarge &&
                    info.st_size % sysconf(_SC_PAGESIZE) != 0;
  const auto size = static_cast<size_t>(info.st_size);
  void* pages = fits ? mmap(nullptr, size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, fd, 0) : MAP_FAILED;
  close(fd);
  if (pages == MAP_FAILED) return std::nullopt;
  std::shared_ptr<const void> owner(pages, [size](void* at) { munmap(at, size); });
  return Content(std::move(owner), {static_cast<const char*>(pages), size});
}

}  // namespace

Result<std::string> ReadRaw(const std::string& path) {
  const bool standard_input = path == "-";
  const int fd = standard_input ? STDIN_FILENO : open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return CannotRead(path, errno);
  Result<std::string> content = ReadDescriptor(fd, path);
  if (!standard_input) close(fd);
  return content;
}

Result<std::string> ReadInput(const std::string& path) {
  Result<std::string> content = ReadRaw(path);
  if (!content) return content;
  if (content->starts_with(kGzip)) return Gunzip(*content, path);
  if (content->starts_with(kZstd)) return Unzstd(*content, path);
  return content;
}

Result<Content> ReadContent(const std::string& path) {
  std::optional<Content> mapped = path == "-" ? std::nullopt : Map(path);
  if (mapped) return *std::move(mapped);
  Result<std::string> read = ReadRaw(path);
  if (!read) return read.error();
  return Content(*std::move(read));
}

Result<Content> Decompress(Content content, const std::string& path) {
  const bool gzip = content.view().starts_with(kGzip);
  if (!gzip && !content.view().starts_with(kZstd)) return content;
  Result<std::string> plain = gzip ? Gunzip(content.view(), path) : Unzstd(content.view(), path);
  if (!plain) return plain.error();
  return Content(*std::move(plain));
}

Status WriteFileAtomically(const std::filesystem::path& path, std::string_view content) {
  static std::atomic<unsigned> serial{0};
  const std::string temporary = fmt::format("{}.tmp.{}.{}", path.string(), getpid(), serial++);
  const TemporaryName registered(temporary.c_str());
  const auto fail = [&](int error) {
    unlink(temporary.c_str());
    return MakeError(kCannotWrite, fmt::format("cannot write `{}`: {}", path.string(), std::strerror(error)), {},
                     error == ENOSPC ? "free some space or choose another folder" : "");
  };
  const int fd = open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (fd < 0) return fail(errno);
  for (size_t at = 0; at < content.size();) {
    const ssize_t put = write(fd, content.data() + at, content.size() - at);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) {
      const int error = errno;
      close(fd);
      return fail(error);
    }
    at += static_cast<size_t>(put);
  }
  if (close(fd) != 0) return fail(errno);
  if (rename(temporary.c_str(), path.c_str()) != 0) return fail(errno);
  return {};
}

Status MakeFolder(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (!error && !std::filesystem::is_directory(path, error)) error = std::make_error_code(std::errc::not_a_directory);
  if (!error) return {};
  return MakeError(kCannotWrite, fmt::format("cannot use `{}` as a folder: {}", path.string(), error.message()));
}

}  // namespace hespas
