#include "ir/module.h"

#include <algorithm>

#include "base/line_index.h"

namespace hespas::ir {

const std::string_view* Module::attribute(OpId id, std::string_view name) const {
  for (const Attribute& a : attributes(id)) {
    if (names_[a.name.index()] == name) return &a.text;
  }
  return nullptr;
}

std::vector<RegionId> Module::regions(OpId id) const {
  std::vector<RegionId> out;
  for (RegionId r = op(id).first_region; r.valid(); r = region(r).next) out.push_back(r);
  return out;
}

std::vector<BlockId> Module::region_blocks(RegionId id) const {
  std::vector<BlockId> out;
  for (BlockId b = region(id).first_block; b.valid(); b = block(b).next) out.push_back(b);
  return out;
}

BlockId Module::body(OpId id, size_t index) const {
  RegionId r = op(id).first_region;
  for (size_t i = 0; i < index && r.valid(); ++i) r = region(r).next;
  return r.valid() ? region(r).first_block : BlockId();
}

OpId Module::parent_op(OpId id) const {
  const BlockId b = op(id).block;
  if (!b.valid() || !block(b).region.valid()) return OpId();
  return region(block(b).region).parent;
}

OpId Module::FindSymbol(std::string_view symbol) const {
  const auto found = symbols_.find(symbol);
  return found == symbols_.end() ? OpId() : found->second;
}

Location Module::LocationAt(size_t offset) const {
  return LocationAt(offset, LineIndex(source().substr(0, std::max<size_t>(offset, 1))));
}

Location Module::LocationAt(size_t offset, const LineIndex& lines) const {
  const std::string_view text = source();
  Location at{.file = path_};
  if (text.empty()) return at;
  offset = std::min(offset, text.size());
  at.line = lines.Line(static_cast<uint32_t>(offset));
  const size_t newline = offset == 0 ? std::string_view::npos : text.rfind('\n', offset - 1);
  const size_t begin = newline == std::string_view::npos ? 0 : newline + 1;
  const size_t end = std::min(text.find('\n', offset), text.size());
  at.column = offset - begin + 1;
  at.source_line = std::string(text.substr(begin, end - begin));
  return at;
}

void Module::SetSource(std::string path, Content text) {
  path_ = std::move(path);
  source_ = std::move(text);
}

std::string_view Module::Keep(std::string text) {
  constexpr size_t kShared = size_t{1} << 16;
  if (text.size() < kShared / 16) {
    // The shared buffer never grows beyond its reserved size, so views into it stay valid.
    if (!small_texts_ || small_texts_->size() + text.size() > kShared) {
      buffers_.push_back(std::make_unique<std::string>());
      small_texts_ = buffers_.back().get();
      small_texts_->reserve(kShared);
    }
    const size_t at = small_texts_->size();
    small_texts_->append(text);
    return std::string_view(*small_texts_).substr(at);
  }
  buffers_.push_back(std::make_unique<std::string>(std::move(text)));
  return *buffers_.back();
}

NameId Module::InternName(std::string_view name) {
  const auto found = name_index_.find(name);
  if (found != name_index_.end()) return found->second;
  const std::string_view kept = Keep(std::string(name));
  const NameId id(names_.size());
  names_.push_back(kept);
  name_kinds_.push_back(KindOf(kept));
  name_index_.emplace(kept, id);
  return id;
}

BlockId Module::AddBlock(std::span<const TypeId> argument_types) {
  const BlockId id(blocks_.size());
  Block block{.first_argument = ValueId(values_.size()),
              .argument_count = static_cast<uint32_t>(argument_types.size())};
  uint32_t index = 0;
  for (const TypeId type : argument_types) {
    values_.push_back({.type = type, .owner = id.value, .index = index++ & 0x7FFFFFFFu, .is_argument = 1});
  }
  blocks_.push_back(std::move(block));
  return id;
}

RegionId Module::AddRegion(std::span<const BlockId> blocks) {
  const RegionId id(regions_.size());
  regions_.push_back({.first_block = blocks.empty() ? BlockId() : blocks[0]});
  for (size_t i = 0; i < blocks.size(); ++i) {
    blocks_[blocks[i].index()].region = id;
    blocks_[blocks[i].index()].next = i + 1 < blocks.size() ? blocks[i + 1] : BlockId();
  }
  return id;
}

OpId Module::AddOp(BlockId block, const OpInit& init) {
  const OpId id(ops_.size());
  Op op{.kind = name_kinds_[init.name.index()],
        .name = init.name,
        .first_operand = static_cast<uint32_t>(operands_.size()),
        .operand_count = static_cast<uint32_t>(init.operands.size()),
        .first_result = ValueId(values_.size()),
        .result_count = static_cast<uint32_t>(init.result_types.size()),
        .first_attribute = static_cast<uint32_t>(attributes_.size()),
        .attribute_count = static_cast<uint32_t>(init.attributes.size()),
        .block = block,
        .source = init.source};
  // An op without operands or attributes must not point past the end of its store.
  if (init.operands.empty()) op.first_operand = 0;
  if (init.attributes.empty()) op.first_attribute = 0;
  operands_.insert(operands_.end(), init.operands.begin(), init.operands.end());
  attributes_.insert(attributes_.end(), init.attributes.begin(), init.attributes.end());
  uint32_t index = 0;
  for (const TypeId type : init.result_types) {
    values_.push_back({.type = type, .owner = id.value, .index = index++ & 0x7FFFFFFFu, .is_argument = 0});
  }
  for (size_t i = 0; i < init.regions.size(); ++i) {
    Region& region = regions_[init.regions[i].index()];
    region.parent = id;
    region.next = i + 1 < init.regions.size() ? init.regions[i + 1] : RegionId();
  }
  if (!init.regions.empty()) op.first_region = init.regions[0];
  ops_.push_back(op);
  if (block.valid()) {
    blocks_[block.index()].ops.push_back(id);
  } else {
    root_ = id;
  }
  return id;
}

void Module::SetRoot(OpId id) {
  root_ = id;
  ops_[id.index()].block = BlockId();
}

void Module::SetAttributes(OpId id, std::span<const Attribute> attributes) {
  Op& op = ops_[id.index()];
  op.first_attribute = attributes.empty() ? 0 : static_cast<uint32_t>(attributes_.size());
  op.attribute_count = static_cast<uint32_t>(attributes.size());
  attributes_.insert(attributes_.end(), attributes.begin(), attributes.end());
}

void Module::SetBlockOps(BlockId id, std::vector<OpId> ops) {
  for (const OpId op : ops) ops_[op.index()].block = id;
  blocks_[id.index()].ops = std::move(ops);
}

void Module::Reserve(size_t ops, size_t values, size_t operands, size_t attributes) {
  ops_.reserve(ops);
  values_.reserve(values);
  operands_.reserve(operands + 1);
  attributes_.reserve(attributes + 1);
}

}  // namespace hespas::ir
