// Every form and defect of HLO text in tests/data/hlo/{accepted,refused}.hlo.txt: read, or refused on the marked line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/system/file.h"
#include "read/read.h"

namespace hespas {
namespace {

// The modules of a file and, for messages, what their first line says of them.
std::vector<std::string> Modules(const std::string& file) {
  const auto text = ReadInput(std::string(HESPAS_SOURCE_DIR) + "/tests/data/hlo/" + file);
  EXPECT_TRUE(text.ok());
  std::vector<std::string> modules;
  constexpr std::string_view kSplit = "// -----\n";
  for (size_t at = 0; text && at < text->size();) {
    const size_t end = std::min(text->find(kSplit, at), text->size());
    modules.push_back(text->substr(at, end - at));
    at = std::min(end + kSplit.size(), text->size());
  }
  return modules;
}

std::string Title(const std::string& module) { return module.substr(0, module.find('\n')); }

TEST(HloForms, AreRead) {
  const auto modules = Modules("accepted.hlo.txt");
  EXPECT_GT(modules.size(), 70u);
  for (const std::string& module : modules) {
    Diagnostics diagnostics;
    const auto read = read::ReadText("form.hlo", module, {}, diagnostics);
    EXPECT_TRUE(read.ok()) << Title(module) << "\n" << (read.ok() ? "" : Render(read.error()));
    EXPECT_THAT(diagnostics.all(), testing::IsEmpty()) << Title(module);
  }
}

TEST(HloDefects, AreRefusedOnTheirLine) {
  const auto modules = Modules("refused.hlo.txt");
  EXPECT_GT(modules.size(), 50u);
  for (const std::string& module : modules) {
    const size_t mark = module.find("// error");
    ASSERT_NE(mark, std::string::npos) << Title(module);
    const auto line =
        1 + static_cast<size_t>(std::count(module.begin(), module.begin() + static_cast<ptrdiff_t>(mark), '\n'));
    Diagnostics diagnostics;
    const auto read = read::ReadText("defect.hlo", module, {}, diagnostics);
    ASSERT_FALSE(read.ok()) << Title(module);
    EXPECT_EQ(read.error().location.line, line) << Title(module) << "\n" << Render(read.error());
  }
}

// A computation that several instructions apply is expanded for each; its defect is one.
TEST(HloDefects, AreReportedOnce) {
  Diagnostics diagnostics;
  const auto read = read::ReadText("defect.hlo",
                                   "HloModule m\n\nadd {\n  x = f32[] parameter(0)\n  y = f32[] parameter(1)\n"
                                   "  n = f32[2] negate(y)\n  ROOT z = f32[] add(x, y)\n}\n\nENTRY main {\n"
                                   "  a = f32[4] parameter(0)\n  c = f32[] constant(0)\n"
                                   "  r = f32[] reduce(a, c), dimensions={0}, to_apply=add\n"
                                   "  ROOT s = f32[] reduce(a, r), dimensions={0}, to_apply=add\n}\n",
                                   {}, diagnostics);
  EXPECT_FALSE(read.ok());
  EXPECT_EQ(diagnostics.all().size(), 1u);
}

}  // namespace
}  // namespace hespas
