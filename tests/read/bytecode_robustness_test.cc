// Bytecode made to exhaust or mislead the reader: each file is read, or refused with the code that says why.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/system/file.h"
#include "read/read.h"

namespace hespas {
namespace {

// MLIR's prefix varint in the shortest form.
std::string Varint(uint64_t value) {
  int extra = 0;
  while (extra < 8 && value >> (7 * (extra + 1)) != 0) ++extra;
  std::string out;
  const uint64_t bits = extra == 8 ? value : (value << 1 | 1) << extra;
  if (extra == 8) out += '\0';
  for (int i = 0; i < (extra == 8 ? 8 : extra + 1); ++i) out += static_cast<char>(bits >> (8 * i));
  return out;
}

std::string Repeat(std::string_view part, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += part;
  return out;
}

enum SectionId : char { kString, kDialect, kAttribute, kAttributeOffset, kIr };
std::string Section(SectionId id, const std::string& data) { return std::string(1, id) + Varint(data.size()) + data; }

enum Mask : char { kAttributes = 1, kResults = 2, kOperands = 4, kRegions = 16 };

// A file of bytecode version 1 with the op names t.a and builtin.module, the type i32 and encoded builtin attributes.
struct File {
  std::string ir;
  std::vector<std::string> attributes = {};  // encoded
  std::vector<std::string> types = {};       // encoded; behind i32

  std::string Bytes() const {
    std::string lengths, characters;
    const std::vector<std::string> strings = {"t", "a", "builtin", "module"};
    for (const std::string& text : strings) {
      lengths = Varint(text.size() + 1) + lengths;
      characters += text + '\0';
    }
    // Dialects t and builtin; of each its op names.
    const std::string dialects = Varint(2) + Varint(0 << 1) + Varint(2 << 1) + Varint(0) + Varint(1) + Varint(1) +
                                 Varint(1) + Varint(1) + Varint(3);
    std::string payload, offsets = Varint(attributes.size()) + Varint(1 + types.size());
    const auto add = [&](const std::vector<std::string>& entries) {
      if (!entries.empty()) offsets += Varint(1) + Varint(entries.size());
      for (const std::string& entry : entries) offsets += Varint(entry.size() << 1 | 1);
      for (const std::string& entry : entries) payload += entry;
    };
    add(attributes);
    const std::string i32 = Varint(0) + Varint(32 << 2);  // IntegerType: code, width and signedness
    std::vector<std::string> all_types = {i32};
    all_types.insert(all_types.end(), types.begin(), types.end());
    add(all_types);
    return "ML\xefR" + Varint(1) + std::string("test", 5) +
           Section(kString, Varint(strings.size()) + lengths + characters) + Section(kDialect, dialects) +
           Section(kAttribute, payload) + Section(kAttributeOffset, offsets) + Section(kIr, ir);
  }
};

constexpr char kOp = 0;      // t.a
constexpr char kModule = 1;  // builtin.module
std::string Op(char name, char mask) { return Varint(static_cast<uint64_t>(name)) + mask + Varint(0); }
// A module of one block of `ops` operations, which define `values` values.
std::string InModule(uint64_t ops, uint64_t values, const std::string& body) {
  return Varint(1 << 1) + Op(kModule, kRegions) + Varint(1 << 1) + Varint(1) + Varint(values) + Varint(ops << 1) + body;
}

// The code of the first error; "" where the file is read.
std::string CodeOf(std::string bytes, size_t* ops = nullptr) {
  Diagnostics diagnostics;
  const auto module = read::ReadText("made.mlirbc", std::move(bytes), {}, diagnostics);
  EXPECT_EQ(module.ok(), !diagnostics.has_errors());
  if (module && ops) *ops = module->op_count();
  return module ? "" : std::string(module.error().kind->code);
}

constexpr int kDeep = 100'000;
constexpr uint64_t kHuge[] = {1'000'000, uint64_t{1} << 32, uint64_t{1} << 56, (uint64_t{1} << 63) - 1, ~uint64_t{0}};

TEST(BytecodeRobustness, ASoundFileIsRead) {
  size_t ops = 0;
  const std::string use = Op(kOp, kOperands) + Varint(1) + Varint(0);
  EXPECT_EQ(CodeOf(File{InModule(2, 1, Op(kOp, kResults) + Varint(1) + Varint(0) + use)}.Bytes(), &ops), "");
  EXPECT_EQ(ops, 3u);
}

TEST(BytecodeRobustness, AMillionResults) {
  const int many = 1'000'000;
  const std::string results = Op(kOp, kResults) + Varint(many) + Repeat(Varint(0), many);
  const std::string use = Op(kOp, kOperands) + Varint(1) + Varint(many - 1);
  EXPECT_EQ(CodeOf(File{InModule(2, many, results + use)}.Bytes()), "");
}

TEST(BytecodeRobustness, AMillionOps) {
  const int many = 1'000'000;
  size_t ops = 0;
  EXPECT_EQ(CodeOf(File{InModule(many, 0, Repeat(Op(kOp, 0), many))}.Bytes(), &ops), "");
  EXPECT_EQ(ops, many + 1u);
}

TEST(BytecodeRobustness, DeepRegionsAreRefused) {
  const std::string level = Op(kOp, kRegions) + Varint(1 << 1) + Varint(1) + Varint(0) + Varint(1 << 1);
  EXPECT_EQ(CodeOf(File{InModule(1, 0, Repeat(level, kDeep) + Op(kOp, 0))}.Bytes()), "E0304");
}

TEST(BytecodeRobustness, DeepAndCyclicAttributesAreRefused) {
  const std::string op = Op(kOp, kAttributes) + Varint(0);
  const auto dictionary = [](uint64_t name, uint64_t value) {
    return Varint(1) + Varint(1) + Varint(name) + Varint(value);
  };
  const std::string text = Varint(2) + Varint(0);  // StringAttr of string 0
  const auto list = [](uint64_t of) { return Varint(0) + Varint(2) + Varint(of) + Varint(of); };  // ArrayAttr, twice
  EXPECT_EQ(CodeOf(File{InModule(1, 0, op), {dictionary(1, 2), text, list(2)}}.Bytes()), "E0304") << "holds itself";
  EXPECT_EQ(CodeOf(File{InModule(1, 0, op), {dictionary(1, 2), text, list(3), list(2)}}.Bytes()), "E0304") << "a cycle";
  std::vector<std::string> doubling = {dictionary(1, 61), text, text};
  for (uint64_t i = 3; i < 62; ++i) doubling.push_back(list(i - 1));
  EXPECT_EQ(CodeOf(File{InModule(1, 0, op), doubling}.Bytes()), "E0304") << "expands to exabytes";
  std::vector<std::string> deep = {dictionary(1, kDeep), text, text};
  for (uint64_t i = 3; i <= kDeep; ++i) deep.push_back(Varint(0) + Varint(1) + Varint(i - 1));
  EXPECT_EQ(CodeOf(File{InModule(1, 0, op), deep}.Bytes()), "E0304") << "deep";
}

TEST(BytecodeRobustness, CyclicTypesAreRefused) {
  const std::string result = Op(kOp, kResults) + Varint(1) + Varint(1);
  const auto function = [](uint64_t of) { return Varint(2) + Varint(1) + Varint(of) + Varint(0); };  // FunctionType
  EXPECT_EQ(CodeOf(File{InModule(1, 1, result), {}, {function(0)}}.Bytes()), "");
  EXPECT_EQ(CodeOf(File{InModule(1, 1, result), {}, {function(1)}}.Bytes()), "E0304");
  EXPECT_EQ(CodeOf(File{InModule(1, 1, result), {}, {function(2), function(1)}}.Bytes()), "E0304");
}

TEST(BytecodeRobustness, DanglingReferencesAreRefused) {
  for (const uint64_t index : kHuge) {
    EXPECT_EQ(CodeOf(File{InModule(1, 0, Varint(index) + '\0' + Varint(0))}.Bytes()), "E0302") << "op name";
    EXPECT_EQ(CodeOf(File{InModule(1, 0, Op(kOp, kAttributes) + Varint(index))}.Bytes()), "E0302") << "attribute";
    EXPECT_EQ(CodeOf(File{InModule(1, 1, Op(kOp, kResults) + Varint(1) + Varint(index))}.Bytes()), "E0302") << "type";
    EXPECT_EQ(CodeOf(File{InModule(1, 0, Op(kOp, kOperands) + Varint(1) + Varint(index))}.Bytes()), "E0302") << "value";
  }
  const std::string own = Op(kOp, kResults | kOperands) + Varint(1) + Varint(0) + Varint(1) + Varint(0);
  EXPECT_EQ(CodeOf(File{InModule(1, 1, own)}.Bytes()), "") << "a value that its own op uses, as graph regions may";
  EXPECT_EQ(CodeOf(File{InModule(1, 2, Op(kOp, kOperands) + Varint(1) + Varint(1))}.Bytes()), "E0302")
      << "announced, never defined";
}

TEST(BytecodeRobustness, HugeCountsAreRefused) {
  for (const uint64_t count : kHuge) {
    SCOPED_TRACE(count);
    for (const char mask : {kResults, kOperands}) {
      EXPECT_EQ(CodeOf(File{InModule(1, 0, Op(kOp, mask) + Varint(count))}.Bytes()), "E0301");
    }
    EXPECT_NE(CodeOf(File{InModule(1, 0, Op(kOp, kRegions) + Varint(count))}.Bytes()), "") << "regions";
    EXPECT_NE(CodeOf(File{InModule(count, 0, Op(kOp, 0))}.Bytes()), "") << "ops";
    EXPECT_NE(CodeOf(File{InModule(1, count, Op(kOp, 0))}.Bytes()), "") << "values";
    EXPECT_EQ(CodeOf("ML\xefR" + Varint(1) + std::string("test", 5) + Section(kString, Varint(count))), "E0301");
    EXPECT_EQ(CodeOf("ML\xefR" + Varint(1) + std::string("test", 5) + std::string(1, kString) + Varint(count)),
              "E0301");
  }
}

TEST(BytecodeRobustness, FilesCutAtEveryByteAreRefused) {
  const std::string use = Op(kOp, kOperands) + Varint(1) + Varint(0);
  const std::string made = File{InModule(2, 1, Op(kOp, kResults) + Varint(1) + Varint(0) + use)}.Bytes();
  const auto real = ReadInput(std::string(HESPAS_CORPUS) + "/bytecode/jax_example.vhlo_1.9.0.mlirbc");
  ASSERT_TRUE(real);
  for (const std::string* whole : {&made, &*real}) {
    for (size_t size = 1; size < whole->size(); ++size) EXPECT_NE(CodeOf(whole->substr(0, size)), "") << size;
  }
}

TEST(BytecodeRobustness, ConstantsOfDynamicShapeAreRefused) {
  const auto found = ReadInput(std::string(HESPAS_SOURCE_DIR) + "/fuzz/corpus/bytecode/found_dynamic_dense.mlirbc");
  ASSERT_TRUE(found);
  EXPECT_EQ(CodeOf(*found), "E0302") << "found by the fuzzer: a list of values without a length";
}

}  // namespace
}  // namespace hespas
