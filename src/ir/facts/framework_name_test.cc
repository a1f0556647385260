#include "ir/facts/framework_name.h"

#include <gtest/gtest.h>

namespace hespas::ir {
namespace {

std::string NameOf(std::string_view location, std::string_view attribute = "loc") {
  Module module;
  module.AddAlias("#scope", "loc(\"jit(f)/jvp(layers/3)/mlp\"(#file))");
  module.AddAlias("#file", "loc(\"model.py\":12:3)");
  module.AddAlias("#function", "loc(\"<module>\"(#file))");
  module.AddAlias("#trace", "loc(callsite(#function at #file))");
  module.AddAlias("#endless", "#endless");
  return NameIn(module, {module.InternName(attribute), location});
}

TEST(FrameworkName, OfLocations) {
  EXPECT_EQ(NameOf(R"x("jit(f)/mlp/dot_general")x"), "jit(f)/mlp/dot_general");
  EXPECT_EQ(NameOf(R"x("jit(f)/mlp/dot_general"("model.py":12:3))x"), "jit(f)/mlp/dot_general");
  EXPECT_EQ(NameOf(R"x("jit(f)/mlp/dot_general"(#trace))x"), "jit(f)/mlp/dot_general");
  EXPECT_EQ(NameOf(R"x("dot_general:"("jit(f)/mlp/dot_general"(#trace)))x"), "jit(f)/mlp/dot_general");
  EXPECT_EQ(NameOf(R"x(fused["all-reduce.3", #file])x"), "all-reduce.3");
  EXPECT_EQ(NameOf(R"x(fused<"x">[#file, "jit(f)/add"])x"), "jit(f)/add");
  EXPECT_EQ(NameOf(R"x(callsite("neg"(#file) at "jit(f)/mlp/jit(silu)"(#file)))x"), "jit(f)/mlp/jit(silu)/neg");
  EXPECT_EQ(NameOf(R"x("bhqd,bhkd-\3Ebhqk \22q\22/dot")x"), "bhqd,bhkd->bhqk \"q\"/dot");
}

TEST(FrameworkName, OfScopesAroundAnOperation) {
  EXPECT_EQ(NameOf("\"dot_general\"(#scope)"), "jit(f)/jvp(layers/3)/mlp/dot_general");
  EXPECT_EQ(NameOf("#scope"), "jit(f)/jvp(layers/3)/mlp");
  EXPECT_EQ(NameOf("\"neg\"(#function)"), "neg");  // a Python function is no scope
}

TEST(FrameworkName, PlacesAreNone) {
  for (const char* location : {"unknown", "#file", "\"model.py\":12:3", "#trace", "#missing", "#endless", "", "\"open",
                               "callsite(", "callsite(\"a\" at", "fused[", "(((", "\"\""}) {
    EXPECT_EQ(NameOf(location), location == std::string_view("\"open") ? NameOf("\"open") : "") << location;
  }
}

TEST(FrameworkName, LocationsThatMultiplyEnd) {
  Module module;
  std::vector<std::string> names, texts;
  for (int i = 0; i < 40; ++i) names.push_back("#a" + std::to_string(i));
  for (int i = 0; i + 1 < 40; ++i)
    texts.push_back("loc(fused[" + names[i + 1] + ", " + names[i + 1] + ", " + names[i + 1] + "])");
  for (int i = 0; i + 1 < 40; ++i) module.AddAlias(names[i], texts[i]);
  EXPECT_EQ(NameIn(module, {module.InternName("loc"), "#a0"}), "");
}

TEST(FrameworkName, OfMetadata) {
  EXPECT_EQ(NameOf(R"x({op_type="add" op_name="jit(f)/mlp/add" source_file="model.py"})x", "metadata"),
            "jit(f)/mlp/add");
  EXPECT_EQ(NameOf(R"x("{op_name=\"jit(f)/mlp/add\"}")x", "metadata"), "jit(f)/mlp/add");
  EXPECT_EQ(NameOf(R"x({source_file="model.py"})x", "metadata"), "");
}

TEST(FrameworkName, InItsCaller) {
  EXPECT_EQ(NameInCaller("jit(f)/layers/1/jit(silu)", "neg"), "jit(f)/layers/1/jit(silu)/neg");
  EXPECT_EQ(NameInCaller("jit(f)/layers/1/jit(silu)", "jit(f)/layers/0/jit(silu)/neg"),
            "jit(f)/layers/1/jit(silu)/neg");
  EXPECT_EQ(NameInCaller("jit(f)/layers/1/jit(silu)", "jit(f)/embedding/add"), "jit(f)/embedding/add");
  EXPECT_EQ(NameInCaller("", "neg"), "neg");
  EXPECT_EQ(NameInCaller("jit(f)/call", ""), "jit(f)/call");
}

}  // namespace
}  // namespace hespas::ir
