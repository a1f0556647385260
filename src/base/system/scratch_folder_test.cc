#include "base/system/scratch_folder.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "base/system/file.h"

namespace hespas {
namespace {

namespace fs = std::filesystem;

// More entries than one system call lists, folders in folders, and a link whose target stays.
TEST(ScratchFolder, AnInterruptRemovesItWithAllThatItHolds) {
  const fs::path outside = fs::temp_directory_path() / ("outside-" + std::to_string(getpid()));
  fs::create_directory(outside);
  std::ofstream(outside / "file") << "stays";
  const ScratchFolder folder;
  fs::path inner = folder.path();
  for (int depth = 0; depth < 4; ++depth) {
    inner /= "deeper";
    fs::create_directory(inner);
    for (int i = 0; i < 200; ++i) std::ofstream(inner / ("a rather long name of a file " + std::to_string(i))) << i;
  }
  fs::create_directory_symlink(outside, folder.path() / "link");
  RemoveTemporaryFiles();
  EXPECT_FALSE(fs::exists(folder.path()));
  EXPECT_TRUE(fs::exists(outside / "file"));
  fs::remove_all(outside);
}

}  // namespace
}  // namespace hespas
