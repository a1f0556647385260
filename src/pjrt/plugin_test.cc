#include "pjrt/plugin.h"

#include <gtest/gtest.h>

namespace hespas::pjrt {
namespace {

CError* Nothing(void*) { return nullptr; }

CApi GoodTable() {
  CApi api{.struct_size = sizeof(CApi),
           .extensions = nullptr,
           .version = {sizeof(CApiVersion), nullptr, 0, 115},
           .functions = {}};
  for (CFunction& function : api.functions) function = Nothing;
  return api;
}

std::string WhyNot(const CApi& api) {
  const Status good = CheckTable(&api);
  return good ? "" : good.error().message;
}

TEST(Plugin, TablesOfTheVersionsThatAreKnownWork) {
  CApi api = GoodTable();
  EXPECT_EQ(WhyNot(api), "");
  api.struct_size += 800;  // of a later version
  EXPECT_EQ(WhyNot(api), "");
}

TEST(Plugin, OlderAndOtherVersionsAreRefused) {
  CApi api = GoodTable();
  api.version.minor = 12;
  EXPECT_EQ(WhyNot(api), "it speaks version 0.12 of the C API, 0.33 or later is needed");
  api.version = {sizeof(CApiVersion), nullptr, 1, 115};
  EXPECT_EQ(WhyNot(api), "it speaks version 1.115 of the C API, 0.33 or later is needed");
}

TEST(Plugin, ShortTablesAreRefused) {
  CApi api = GoodTable();
  api.struct_size = 8;
  EXPECT_EQ(WhyNot(api), "its table has 8 bytes, too few for a version");
  api.struct_size = sizeof(CApi) - sizeof(CFunction);
  EXPECT_NE(WhyNot(api).find("functions are missing"), std::string::npos);
  EXPECT_FALSE(CheckTable(nullptr).ok());
  api = GoodTable();
  api.functions[kClientCompile] = nullptr;
  EXPECT_EQ(WhyNot(api), "function 20 of its table is missing");
}

// Sizes and places of the public definition, of a 64-bit machine (pjrt_c_api.h, version 0.33).
TEST(Plugin, StructuresLieAsDefined) {
  EXPECT_EQ(offsetof(CApi, functions), 40u);
  EXPECT_EQ(sizeof(CFromHostArguments), 120u);
  EXPECT_EQ(sizeof(CExecuteArguments), 80u);
  EXPECT_EQ(sizeof(CCompileArguments), 56u);
}

}  // namespace
}  // namespace hespas::pjrt
