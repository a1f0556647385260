#include "split/structure_hash.h"

#include <algorithm>

#include "ir/attributes/op_properties.h"
#include "ir/facts/ragged_dot_tiling.h"
#include "ir/walk.h"
#include "split/program.h"

namespace hespas::split {
namespace {

constexpr uint64_t kOutside = uint64_t{1} << 62;  // marks the number of a value from outside
constexpr uint64_t kBlockMark = 0x626C6F636B;

// Attributes that say where an op comes from or how it was partitioned, not what it computes.
constexpr std::string_view kIgnored[] = {
    ir::kFrontendAttributes, "mhlo.sharding", "sdy.sharding", "metadata",      "op_name",
    "source_file",           "source_line",   "sym_name",     "sym_visibility"};

bool Ignored(std::string_view name) {
  return std::find(std::begin(kIgnored), std::end(kIgnored), name) != std::end(kIgnored);
}

Hash128 HashWords(const std::vector<uint64_t>& words) {
  return HashBytes({reinterpret_cast<const char*>(words.data()), words.size() * sizeof(uint64_t)});
}

uint64_t NonZero(uint64_t h) { return h == 0 ? 1 : h; }

bool IsSymbolCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
         c == '$' || c == '-';
}

// Every `@name` or `@"name"` in an attribute's text.
template <class OnSymbol>
void ForEachSymbol(std::string_view text, OnSymbol&& on_symbol) {
  for (size_t at = text.find('@'); at != std::string_view::npos; at = text.find('@', at)) {
    ++at;
    if (at < text.size() && text[at] == '"') {
      const size_t end = text.find('"', at + 1);
      if (end == std::string_view::npos) return;
      on_symbol(text.substr(at + 1, end - at - 1));
      at = end;
      continue;
    }
    size_t end = at;
    while (end < text.size() && IsSymbolCharacter(text[end])) ++end;
    on_symbol(text.substr(at, end - at));
    at = end;
  }
}

bool MayCall(ir::OpKind kind) {
  switch (ir::Traits(kind).sort) {
    case ir::OpSort::kCall:
    case ir::OpSort::kCustomCall:
    case ir::OpSort::kFusion:
    case ir::OpSort::kAsync:
    case ir::OpSort::kReduction:
      return true;
    default:
      return false;
  }
}

constexpr size_t kLongestRespelt = 4096;     // longer attributes are payloads, which are spelt in one way
constexpr size_t kLongestSymbolText = 4096;  // longer attributes are payloads, not lists of symbols

}  // namespace

StructureHasher::StructureHasher(const ir::Module& module, bool callee_names)
    : module_(module),
      callee_names_(callee_names),
      canonical_(module),
      type_hashes_(module.types().size(), 0),
      contents_(module.op_count()),
      has_content_(module.op_count(), false),
      stamp_(module.value_count(), 0),
      number_(module.value_count(), 0) {}

uint64_t StructureHasher::NameHash(ir::NameId name) {
  if (name.index() >= name_hashes_.size()) name_hashes_.resize(name.index() + 1, 0);
  uint64_t& hash = name_hashes_[name.index()];
  if (hash == 0) hash = NonZero(HashBytes(module_.name(name)).low);
  return hash;
}

uint64_t StructureHasher::TypeHash(ir::TypeId type) {
  uint64_t& hash = type_hashes_[type.index()];
  if (hash == 0) hash = NonZero(HashBytes(module_.types().Text(type)).low);
  return hash;
}

bool StructureHasher::Skips(ir::NameId name) {
  if (name.index() >= skips_.size()) skips_.resize(name.index() + 1);
  auto& skips = skips_[name.index()];
  if (!skips) skips = module_.name(name) == "loc" || (!callee_names_ && Ignored(module_.name(name)));
  return *skips;
}

Hash128 StructureHasher::AttributeHash(ir::NameId name, std::string_view text) {
  const Hash128 written = Combine(HashBytes(text), NameHash(name));
  if (text.empty() || text.size() > kLongestRespelt) return written;
  const auto [known, is_new] = spellings_.try_emplace(written);
  if (is_new) {
    const std::string spelt = canonical_.Attribute(text, ir::MeaningOf(module_.name(name)));
    known->second = Combine(HashBytes(spelt), NameHash(name));
  }
  return known->second;
}

// A sum, so that the order in which attributes are written does not matter.
void StructureHasher::AppendAttributes(ir::OpId op, std::vector<uint64_t>& words) {
  const bool calls = !callee_names_ && MayCall(module_.kind(op));
  uint64_t low = 0;
  uint64_t high = 0;
  const auto add = [&](const Hash128& entry) {
    low += entry.low;
    high += entry.high;
  };
  for (const ir::Attribute& attribute : module_.attributes(op)) {
    if (Skips(attribute.name) && !ir::TellsBlocks(attribute.text)) continue;
    if (calls && attribute.text.size() <= kLongestSymbolText && attribute.text.find('@') != std::string_view::npos)
      continue;
    add(AttributeHash(attribute.name, attribute.text));
  }
  const auto added = ir::DefaultPropertyOf(module_.name(op));
  if (added && module_.attribute(op, added->name) == nullptr) {
    add(Combine(HashBytes(added->text), HashBytes(added->name).low));
  }
  words.push_back(low);
  words.push_back(high);
}

void StructureHasher::AppendRegions(ir::OpId op, std::vector<uint64_t>& words) {
  if (!module_.op(op).first_region.valid()) return;
  if (inner_stamp_.empty()) {
    inner_stamp_.assign(module_.value_count(), 0);
    inner_number_.assign(module_.value_count(), 0);
  }
  const uint32_t epoch = ++inner_epoch_;
  uint32_t defined = 0;
  uint64_t captured = 0;
  const auto define = [&](ir::ValueId value) {
    inner_stamp_[value.index()] = epoch;
    inner_number_[value.index()] = defined++;
    words.push_back(TypeHash(module_.type_id(value)));
  };
  ir::WalkNested(
      module_, op,
      [&](ir::BlockId block) {
        words.push_back(kBlockMark);
        for (const ir::ValueId value : module_.arguments(block)) define(value);
      },
      [&](ir::OpId inner) {
        words.push_back(NameHash(module_.op(inner).name));
        AppendAttributes(inner, words);
        AppendCallees(inner, words);
        for (const ir::ValueId use : module_.operands(inner)) {
          if (inner_stamp_[use.index()] != epoch) {
            inner_stamp_[use.index()] = epoch;
            inner_number_[use.index()] = static_cast<uint32_t>(captured++) | 0x80000000u;
          }
          words.push_back(inner_number_[use.index()]);
        }
        for (const ir::ValueId result : module_.results(inner)) define(result);
      });
}

std::vector<ir::OpId> StructureHasher::CalleesOf(ir::OpId op) const {
  std::vector<ir::OpId> found;
  if (!MayCall(module_.kind(op))) return found;
  for (const ir::Attribute& attribute : module_.attributes(op)) {
    if (attribute.text.size() > kLongestSymbolText) continue;
    ForEachSymbol(attribute.text, [&](std::string_view symbol) {
      const ir::OpId function = module_.FindSymbol(symbol);
      if (function.valid()) found.push_back(function);
    });
  }
  return found;
}

void StructureHasher::AppendCallees(ir::OpId op, std::vector<uint64_t>& words) {
  for (const ir::OpId function : CalleesOf(op)) {
    const Hash128 hash = FunctionHash(function);
    words.push_back(hash.low);
    words.push_back(hash.high);
  }
}

// Callees first, on an explicit stack; a function that (wrongly) calls itself counts by its position in the program.
Hash128 StructureHasher::FunctionHash(ir::OpId root) {
  if (callees_.empty()) callees_.resize(module_.op_count());
  if (callees_[root.index()].state != Callee::State::kNew) return callees_[root.index()].hash;
  std::vector<ir::OpId> stack = {root};
  while (!stack.empty()) {
    const ir::OpId function = stack.back();
    Callee& callee = callees_[function.index()];
    if (callee.state == Callee::State::kDone) {
      stack.pop_back();
      continue;
    }
    if (callee.state == Callee::State::kOpen) {
      // Its callees are done, or open further down (a cycle) with their provisional hashes.
      std::vector<uint64_t> words = {NameHash(module_.op(function).name)};
      AppendAttributes(function, words);
      AppendRegions(function, words);
      callee.hash = HashWords(words);
      callee.state = Callee::State::kDone;
      stack.pop_back();
      continue;
    }
    callee.state = Callee::State::kOpen;
    callee.hash = {function.value, 0};
    ir::WalkNested(module_, function, [&](ir::OpId inner) {
      for (const ir::OpId next : CalleesOf(inner)) {
        if (callees_[next.index()].state == Callee::State::kNew) stack.push_back(next);
      }
    });
  }
  return callees_[root.index()].hash;
}

Hash128 StructureHasher::ComputeContent(ir::OpId op) {
  std::vector<uint64_t> words = {NameHash(module_.op(op).name)};
  AppendAttributes(op, words);
  AppendCallees(op, words);
  for (const ir::ValueId result : module_.results(op)) words.push_back(TypeHash(module_.type_id(result)));
  AppendRegions(op, words);
  return HashWords(words);
}

const Hash128& StructureHasher::Content(ir::OpId op) {
  if (!has_content_[op.index()]) {
    contents_[op.index()] = ComputeContent(op);
    has_content_[op.index()] = true;
  }
  return contents_[op.index()];
}

void StructureHasher::AppendUse(ir::ValueId value, std::vector<uint64_t>& words) {
  if (stamp_[value.index()] != epoch_) {
    stamp_[value.index()] = epoch_;
    number_[value.index()] = inputs_++;
    words.push_back(kOutside | number_[value.index()]);
    words.push_back(TypeHash(module_.type_id(value)));
    return;
  }
  words.push_back(number_[value.index()]);
}

Hash128 StructureHasher::Block(std::span<const ir::OpId> ops) {
  std::vector<uint64_t> words;
  words.reserve(ops.size() * 6);
  ++epoch_;
  inputs_ = 0;
  for (const ir::OpId op : ops) {
    const Hash128& content = Content(op);
    words.push_back(content.low);
    words.push_back(content.high);
    for (const ir::ValueId use : module_.operands(op)) AppendUse(use, words);
    if (module_.op(op).first_region.valid()) {
      captured_.clear();
      AppendCaptured(module_, op, inner_stamp_, ++inner_epoch_, captured_);
      for (const ir::ValueId use : captured_) AppendUse(use, words);
    }
    for (const ir::ValueId result : module_.results(op)) {
      stamp_[result.index()] = epoch_;
      number_[result.index()] = inputs_++;
    }
  }
  return HashWords(words);
}

}  // namespace hespas::split
