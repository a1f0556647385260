#include "base/system/file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <csignal>
#include <fstream>

#include "base/content.h"

namespace hespas {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class FileTest : public ::testing::Test {
 protected:
  FileTest() {
    std::string pattern = (fs::temp_directory_path() / "hespas-file-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  ~FileTest() override {
    std::error_code error;
    fs::permissions(folder_, fs::perms::owner_all, error);
    fs::remove_all(folder_, error);
  }
  std::string Put(const std::string& name, const std::string& content) {
    const fs::path path = folder_ / name;
    std::ofstream(path, std::ios::binary) << content;
    return path.string();
  }
  std::string Code(const std::string& path) {
    const auto content = ReadInput(path);
    return content ? "read" : std::string(content.error().kind->code);
  }
  size_t FilesInFolder() { return static_cast<size_t>(std::distance(fs::directory_iterator(folder_), {})); }

  fs::path folder_;
};

std::string Gzip(const std::string& text) {
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, text.size()) + 64, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string Zstd(const std::string& text) {
  std::string out(ZSTD_compressBound(text.size()), '\0');
  out.resize(ZSTD_compress(out.data(), out.size(), text.data(), text.size(), 3));
  return out;
}

// Does not compress to nothing, and spans several chunks.
std::string LongText() {
  std::string text;
  for (uint32_t i = 0, x = 1; i < 400'000; ++i) {
    x = x * 1664525u + 1013904223u;
    text += std::to_string(x);
  }
  return text;
}

TEST_F(FileTest, ReadsPlainGzipAndZstdAlike) {
  const std::string text = LongText();
  EXPECT_EQ(*ReadInput(Put("plain", text)), text);
  EXPECT_EQ(*ReadInput(Put("gz", Gzip(text))), text);
  EXPECT_EQ(*ReadInput(Put("zst", Zstd(text))), text);
}

TEST_F(FileTest, ReadsEmptyFilesAndEmptyStreams) {
  EXPECT_EQ(*ReadInput(Put("plain", "")), "");
  EXPECT_EQ(*ReadInput(Put("gz", Gzip(""))), "");
  EXPECT_EQ(*ReadInput(Put("zst", Zstd(""))), "");
}

TEST_F(FileTest, ReadsConcatenatedMembers) {
  EXPECT_EQ(*ReadInput(Put("gz", Gzip("one ") + Gzip("two"))), "one two");
  EXPECT_EQ(*ReadInput(Put("zst", Zstd("one ") + Zstd("two"))), "one two");
}

TEST_F(FileTest, RefusesTruncatedStreams) {
  const std::string gzip = Gzip(LongText()), zstd = Zstd(LongText());
  for (const size_t keep : {size_t{2}, size_t{9}, size_t{100}, gzip.size() / 2, gzip.size() - 1}) {
    EXPECT_EQ(Code(Put("gz", gzip.substr(0, keep))), "E0003") << keep;
  }
  for (const size_t keep : {size_t{4}, size_t{9}, size_t{100}, zstd.size() / 2, zstd.size() - 1}) {
    EXPECT_EQ(Code(Put("zst", zstd.substr(0, keep))), "E0003") << keep;
  }
}

TEST_F(FileTest, RefusesDamagedStreams) {
  std::string gzip = Gzip(LongText());
  gzip[gzip.size() / 2] = static_cast<char>(~gzip[gzip.size() / 2]);
  EXPECT_EQ(Code(Put("gz", gzip)), "E0003");
  EXPECT_EQ(Code(Put("garbage", Gzip("text") + "garbage")), "E0003");
  EXPECT_EQ(Code(Put("zst", std::string("\x28\xb5\x2f\xfd") + std::string(50, 'x'))), "E0003");
}

TEST_F(FileTest, MissingFilesAndFoldersAreErrors) {
  EXPECT_EQ(Code((folder_ / "missing").string()), "E0001");
  EXPECT_EQ(Code(folder_.string()), "E0001");
  EXPECT_EQ(Code(""), "E0001");
}

TEST_F(FileTest, WritesReplaceWholeFiles) {
  const std::string path = Put("out", "an older and longer content");
  ASSERT_TRUE(WriteFileAtomically(path, "new"));
  EXPECT_EQ(*ReadInput(path), "new");
  EXPECT_EQ(FilesInFolder(), 1u);
}

TEST_F(FileTest, FailedWritesLeaveNothingBehind) {
  const Status status = WriteFileAtomically(folder_ / "missing" / "out", "x");
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().kind->code, "E0002");
  EXPECT_THAT(status.error().message, HasSubstr("missing"));
  fs::create_directory(folder_ / "taken");
  EXPECT_FALSE(WriteFileAtomically(folder_ / "taken", "x"));
  EXPECT_EQ(FilesInFolder(), 1u);
}

// A limit on file sizes replaces a full disk: the write fails midway, and the older file survives.
TEST_F(FileTest, WritesThatFailMidwayKeepTheOlderFile) {
  const std::string path = Put("out", "older");
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const auto handler = signal(SIGXFSZ, SIG_IGN);
  const rlimit small{4096, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  const Status status = WriteFileAtomically(path, std::string(1 << 16, 'x'));
  setrlimit(RLIMIT_FSIZE, &before);
  signal(SIGXFSZ, handler);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().kind->code, "E0002");
  EXPECT_EQ(*ReadInput(path), "older");
  EXPECT_EQ(FilesInFolder(), 1u);
}

TEST_F(FileTest, MakeFolderIsIdempotentAndRefusesFiles) {
  EXPECT_TRUE(MakeFolder(folder_ / "a" / "b"));
  EXPECT_TRUE(MakeFolder(folder_ / "a" / "b"));
  Put("file", "x");
  const Status status = MakeFolder(folder_ / "file");
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().kind->code, "E0002");
  EXPECT_FALSE(MakeFolder(folder_ / "file" / "below"));
}

// Files of 16 MiB and more are mapped, except where no NUL byte would follow; all are read the same way.
TEST_F(FileTest, LargeFilesAreReadWithoutACopy) {
  for (const size_t size : {size_t{1000}, (size_t{16} << 20) + 1, size_t{16} << 20, (size_t{17} << 20) + 4095}) {
    std::string text(size, 'a');
    text.back() = 'z';
    const std::string path = Put("large", text);
    auto content = ReadContent(path);
    ASSERT_TRUE(content) << size;
    EXPECT_EQ(content->view().data()[size], '\0');
    const Content copy = *content;
    content = Content();
    EXPECT_TRUE(copy.view() == text) << size;
  }
  EXPECT_FALSE(ReadContent((folder_ / "missing").string()));
  const auto plain = Decompress(*ReadContent(Put("packed", Gzip("func"))), "packed");
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->view(), "func");
}

}  // namespace
}  // namespace hespas
