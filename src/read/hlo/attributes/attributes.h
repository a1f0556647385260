// Turns the attributes of HLO instructions into those of the IR.
//
// - One visible table (attribute_table.cc) says which key becomes which; keys in no table are kept as quoted text.
// - Texts are cached by value, so that ten thousand equal `replica_groups` take room once.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ir/module.h"
#include "read/hlo/text/syntax.h"
#include "read/text_arena.h"

namespace hespas::read::hlo {

// clang-format off
enum class Form : uint8_t {
  kIntegerList,   // {0,1}      -> array<i64: 0, 1>
  kFirstInteger,  // {1}        -> 1 : i64
  kInteger,       // 1          -> 1 : i64
  kInteger32,     // 8          -> 8 : i32
  kFloat32,       // 0.001      -> 0.001 : f32
  kBoolean,       // true       -> true
  kUnit,          // true       -> (unit); false is omitted
  kText,          // anything   -> "anything", quoted
  kAsWritten,     // {a="b"}    -> as it is: the printer quotes it, so that the bulk of a dump is not copied
  kStableEnum,    // LT         -> #stablehlo<comparison_direction LT>, with the row's detail
  kMhloEnum,      // kLoop      -> #mhlo<fusion_kind kLoop>
  kRngEnum,       // rng_normal -> #stablehlo<rng_distribution NORMAL>
  kApiVersion,    // API_VERSION_TYPED_FFI -> 4 : i32
  kPrecision,     // {highest,default} -> [#stablehlo<precision HIGHEST>, ...]
  kChannel,       // 3          -> #stablehlo.channel_handle<handle = 3, type = 0>
  kGroups,        // {{0,1}} or [2,4]<=[8] -> dense<...> : tensor<GxSxi64>; huge ones keep the second spelling
  kPairs,         // {{0,1},{1,2}} -> dense<[[0, 1], [1, 2]]> : tensor<2x2xi64>
  kBackendConfig, // quoted; also gives known_trip_count and is_sync
  kPart,          // gathered into one attribute with others, or named a computation
};
// clang-format on

struct AttributeRow {
  std::string_view opcode;  // empty: any
  std::string_view key;
  std::string_view name;
  Form form;
  std::string_view detail = {};
};

// The row for `key` of `opcode`, or nullptr.
const AttributeRow* FindAttributeRow(std::string_view opcode, std::string_view key);

class AttributeBuilder {
 public:
  AttributeBuilder(ir::Module& module, TextArena& arena) : module_(module), arena_(arena) {}

  // The IR attributes of `instruction` whose HLO opcode is `opcode`; valid until the next call.
  std::vector<ir::Attribute>& Build(std::string_view opcode, const InstructionSyntax& instruction,
                                    std::span<const AttributeSyntax> attributes);

  void Add(std::string_view name, std::string_view text) { out_.push_back({module_.InternName(name), text}); }
  void AddCopy(std::string_view name, std::string_view text) { Add(name, arena_.Copy(text)); }
  // `text` in quotes with MLIR's escapes; a text that is quoted already keeps its own quotes.
  std::string_view Quoted(std::string_view text);
  void Clear() { out_.clear(); }
  std::vector<ir::Attribute>& attributes() { return out_; }
  // Values that no form could read since the last call, as messages.
  std::vector<std::string> TakeProblems() { return std::move(problems_); }

 private:
  std::string_view Cached(const AttributeRow& row, std::string_view value);
  std::string Convert(const AttributeRow& row, std::string_view value);
  void AddRow(const AttributeRow& row, std::string_view value);
  void AddBackendConfig(std::string_view value);
  std::string_view QuotedOnce(std::string_view text);
  void AddContraction(std::span<const AttributeSyntax> attributes);
  void AddConvolution(std::span<const AttributeSyntax> attributes, bool is_custom_call);
  void AddWindow(std::span<const AttributeSyntax> attributes);
  void AddGather(std::span<const AttributeSyntax> attributes);
  void AddScatter(std::span<const AttributeSyntax> attributes);
  void AddSlice(std::string_view slice);
  void AddPadding(std::string_view padding);
  void AddCollective(std::string_view opcode, const InstructionSyntax& instruction,
                     std::span<const AttributeSyntax> attributes);
  void Problem(std::string_view key, std::string_view value);

  ir::Module& module_;
  TextArena& arena_;
  std::vector<ir::Attribute> out_;
  std::unordered_map<const AttributeRow*, std::unordered_map<std::string_view, std::string_view>> cache_;
  std::unordered_map<std::string_view, std::string_view> quoted_;
  std::unordered_map<std::string_view, ir::NameId> names_;
  std::vector<std::string> problems_;
  std::string scratch_;
};

// All integers of `{0,1}` or `[0:4]`; nothing where something else stands there.
std::optional<std::vector<int64_t>> Integers(std::string_view text);

// `{{0,1},{2,3}}`, `[2,4]<=[4,2]T(1,0)`, `mesh['x'=2,'y'=4] {'x'}`: groups as dense; huge and unknown forms as they
// are.
std::string GroupsText(std::string_view text);
// The ids per group, 0 where unknown (all devices in one group).
int64_t GroupSize(std::string_view text);

// "array<i64: 1, 2>", "[1, 2]"
std::string ArrayText(std::span<const int64_t> values);
std::string ListText(std::span<const int64_t> values);

}  // namespace hespas::read::hlo
