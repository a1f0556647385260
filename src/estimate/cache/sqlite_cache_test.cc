#include "estimate/cache/sqlite_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace hespas::estimate {
namespace {

namespace fs = std::filesystem;

class Cache : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) / ("hespas_cache_" + std::to_string(::getpid()));
    fs::create_directories(folder_);
    path_ = (folder_ / "cache.sqlite").string();
  }
  void TearDown() override { fs::remove_all(folder_); }

  static graph::Estimate Example(int64_t time) {
    return {.time = Time(time),
            .sigma = Time(7),
            .flops = Flops(11),
            .bytes = Bytes(13),
            .bound = graph::Bound::kMemory,
            .terms = {{"bytes / bandwidth", Time(time)}},
            .source = "roofline"};
  }
  void StoreOne(uint64_t key, int64_t time) {
    Diagnostics diagnostics;
    OpenCache(path_, diagnostics)->Store({key, 1}, Example(time));
    EXPECT_TRUE(diagnostics.all().empty());
  }
  std::optional<graph::Estimate> FindOne(uint64_t key) {
    Diagnostics diagnostics;
    return OpenCache(path_, diagnostics)->Find({key, 1});
  }

  fs::path folder_;
  std::string path_;
};

TEST_F(Cache, KeepsEstimatesAcrossRuns) {
  StoreOne(5, 1234);
  const auto found = FindOne(5);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->time, Time(1234));
  EXPECT_EQ(found->bytes.value, 13);
  EXPECT_EQ(found->bound, graph::Bound::kMemory);
  ASSERT_EQ(found->terms.size(), 1u);
  EXPECT_EQ(found->terms[0].name, "bytes / bandwidth");
  EXPECT_EQ(found->source, "roofline");
  EXPECT_FALSE(FindOne(6).has_value());
}

TEST_F(Cache, DamagedFileIsSetAside) {
  StoreOne(5, 1234);
  std::ofstream(path_, std::ios::binary | std::ios::trunc) << "this is no database, but long enough to look at";
  Diagnostics diagnostics;
  {
    const auto cache = OpenCache(path_, diagnostics);
    EXPECT_FALSE(cache->Find({5, 1}).has_value());
    cache->Store({5, 1}, Example(99));
  }
  ASSERT_EQ(diagnostics.all().size(), 1u);
  EXPECT_EQ(diagnostics.all()[0].kind->code, "W0520");
  EXPECT_TRUE(fs::exists(path_ + ".damaged"));
  EXPECT_EQ(FindOne(5)->time, Time(99));
}

TEST_F(Cache, EveryFlippedByteIsNoticedOrHarmless) {
  for (uint64_t key = 0; key < 20; ++key) StoreOne(key, static_cast<int64_t>(1000 + key));
  std::string good;
  {
    std::ifstream in(path_, std::ios::binary);
    good.assign(std::istreambuf_iterator<char>(in), {});
  }
  for (size_t at = 100; at < good.size(); at += 397) {
    std::string bad = good;
    bad[at] = static_cast<char>(bad[at] ^ 0x15);
    fs::remove(path_ + "-wal");
    std::ofstream(path_, std::ios::binary | std::ios::trunc) << bad;
    for (uint64_t key = 0; key < 20; key += 7) {
      const auto found = FindOne(key);
      if (found) {
        EXPECT_EQ(found->time, Time(static_cast<int64_t>(1000 + key)));
      }
    }
  }
}

TEST_F(Cache, UnwritableFolderCostsOnlyReuse) {
  Diagnostics diagnostics;
  const auto cache = OpenCache((folder_ / "missing" / "cache.sqlite").string(), diagnostics);
  cache->Store({5, 1}, Example(1));
  EXPECT_FALSE(cache->Find({5, 1}).has_value());
  ASSERT_EQ(diagnostics.all().size(), 1u);
  EXPECT_EQ(diagnostics.all()[0].kind->code, "W0521");
}

TEST_F(Cache, ManyProcessesWriteAtOnce) {
  constexpr int kProcesses = 6;
  std::vector<pid_t> children;
  for (int p = 0; p < kProcesses; ++p) {
    const pid_t child = ::fork();
    if (child == 0) {
      Diagnostics diagnostics;
      for (uint64_t i = 0; i < 20; ++i) {
        OpenCache(path_, diagnostics)
            ->Store({static_cast<uint64_t>(p) * 1000 + i, 1}, Example(static_cast<int64_t>(i)));
      }
      ::_exit(diagnostics.all().empty() ? 0 : 1);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  const auto statistics = ReadCacheStatistics(path_);
  ASSERT_TRUE(statistics.ok());
  EXPECT_EQ(statistics->entries, kProcesses * 20);
  EXPECT_EQ(statistics->damaged, 0);
}

TEST_F(Cache, PrunesAndExports) {
  StoreOne(5, 1234);
  const auto text = ExportCache(path_);
  ASSERT_TRUE(text.ok());
  EXPECT_THAT(*text, testing::HasSubstr("\"time_ps\":1234"));
  EXPECT_EQ(*PruneCache(path_, 30), 0);
  EXPECT_EQ(ReadCacheStatistics(path_)->entries, 1);
  EXPECT_FALSE(ReadCacheStatistics((folder_ / "other").string()).ok());
}

}  // namespace
}  // namespace hespas::estimate
