// Module: one program as flat stores addressed by ids.
//
// - root() is a builtin.module op; its region's block holds functions (and sdy.mesh and the like) in source order.
// - An op is created after its operands and its regions; block_ops() gives program order.
// - Attributes keep their source text (views into buffers the module owns) and are decoded on demand
//   (ir/attributes/attribute.h); `#alias` texts have been replaced by what they represent at the outermost level.
// - A module is movable, not copyable; views stay valid as long as it lives.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/content.h"
#include "base/diagnostic.h"
#include "base/id.h"
#include "ir/ids.h"
#include "ir/op_kind.h"
#include "ir/type_table.h"

namespace hespas {
class LineIndex;
}

namespace hespas::ir {

struct Attribute {
  NameId name;
  std::string_view text;  // "dense<[[0,1]]> : tensor<1x2xi64>", "[1] x [0]", "" for unit
};

struct Op {
  OpKind kind = OpKind::kUnknown;
  NameId name;  // full spelling, "stablehlo.add"
  uint32_t first_operand = 0;
  uint32_t operand_count = 0;
  ValueId first_result;
  uint32_t result_count = 0;
  uint32_t first_attribute = 0;
  uint32_t attribute_count = 0;
  RegionId first_region;
  BlockId block;        // that holds this op
  uint32_t source = 0;  // byte offset into the source text, for locations
};

struct Value {
  TypeId type;
  uint32_t owner = 0;       // OpId, or BlockId where is_argument
  uint32_t index : 31 = 0;  // which result or argument
  uint32_t is_argument : 1 = 0;
};

struct Region {
  OpId parent;
  BlockId first_block;  // further blocks through Block::next
  RegionId next;        // next region of the same op
};

struct Block {
  RegionId region;
  BlockId next;
  ValueId first_argument;
  uint32_t argument_count = 0;
  std::vector<OpId> ops;
};

class Module {
 public:
  Module() = default;
  Module(Module&&) = default;
  Module& operator=(Module&&) = default;

  // --- reading -------------------------------------------------------------------------------------------------------
  OpId root() const { return root_; }
  size_t op_count() const { return ops_.size(); }
  size_t value_count() const { return values_.size(); }
  const Op& op(OpId id) const { return ops_[id.index()]; }
  const Value& value(ValueId id) const { return values_[id.index()]; }
  const Region& region(RegionId id) const { return regions_[id.index()]; }
  const Block& block(BlockId id) const { return blocks_[id.index()]; }
  const TypeTable& types() const { return types_; }
  TypeTable& types() { return types_; }

  std::string_view name(OpId id) const { return name(op(id).name); }
  std::string_view name(NameId id) const { return names_[id.index()]; }
  // Whether anything may be called so: an op or an attribute.
  bool KnowsName(std::string_view name) const { return name_index_.contains(name); }
  OpKind kind(OpId id) const { return op(id).kind; }
  std::span<const ValueId> operands(OpId id) const { return {&operands_[op(id).first_operand], op(id).operand_count}; }
  IdRange<ValueId> results(OpId id) const { return {op(id).first_result, op(id).result_count}; }
  ValueId result(OpId id, size_t i = 0) const { return results(id)[i]; }
  std::span<const Attribute> attributes(OpId id) const {
    return {&attributes_[op(id).first_attribute], op(id).attribute_count};
  }
  // The attribute's text, or nullptr where the op has none of that name.
  const std::string_view* attribute(OpId id, std::string_view name) const;
  std::vector<RegionId> regions(OpId id) const;
  std::vector<BlockId> region_blocks(RegionId id) const;
  // First block of the op's i-th region; invalid where there is none.
  BlockId body(OpId id, size_t region = 0) const;
  IdRange<ValueId> arguments(BlockId id) const { return {block(id).first_argument, block(id).argument_count}; }

  TypeId type_id(ValueId id) const { return value(id).type; }
  const Type& type(ValueId id) const { return types_[value(id).type]; }
  // The op that defines `id`; invalid for block arguments.
  OpId defining_op(ValueId id) const { return value(id).is_argument ? OpId() : OpId(size_t{value(id).owner}); }
  OpId parent_op(OpId id) const;

  // Symbols of the top level, by sym_name without `@`; the callee of a call; invalid where there is none.
  OpId FindSymbol(std::string_view symbol) const;
  OpId main() const { return FindSymbol("main"); }

  // What `#name` or `!name` represents in attribute texts; empty where nothing is known.
  std::string_view Alias(std::string_view name) const {
    const auto found = aliases_.find(name);
    return found == aliases_.end() ? std::string_view() : found->second;
  }

  const std::string& path() const { return path_; }
  std::string_view source() const { return source_.view(); }
  const Content& content() const { return source_; }  // the same, to be shared
  // File, line, column and text of the line at a byte offset of the source.
  Location LocationAt(size_t offset) const;
  // The same with the lines counted once for many offsets.
  Location LocationAt(size_t offset, const LineIndex& lines) const;
  Location location(OpId id) const { return LocationAt(op(id).source); }

  // --- building ------------------------------------------------------------------------------------------------------
  void SetSource(std::string path, Content text);
  // A text that lives as long as the module, for attributes to point into.
  std::string_view Keep(std::string text);
  NameId InternName(std::string_view name);
  BlockId AddBlock(std::span<const TypeId> argument_types);
  RegionId AddRegion(std::span<const BlockId> blocks);

  struct OpInit {
    NameId name;
    std::span<const ValueId> operands = {};
    std::span<const TypeId> result_types = {};
    std::span<const Attribute> attributes = {};
    std::span<const RegionId> regions = {};
    uint32_t source = 0;
  };
  // Appends to `block`, or makes the root op where `block` is invalid.
  OpId AddOp(BlockId block, const OpInit& init);
  // Sets operands in place (same count), for forward references and rewrites.
  void SetOperand(OpId id, size_t index, ValueId value) { operands_[op(id).first_operand + index] = value; }
  void SetAttributes(OpId id, std::span<const Attribute> attributes);
  void SetValueType(ValueId id, TypeId type) { values_[id.index()].type = type; }
  void SetBlockOps(BlockId id, std::vector<OpId> ops);
  // Makes an op that is in no region any more the root.
  void SetRoot(OpId id);
  void AddAlias(std::string_view name, std::string_view text) { aliases_.emplace(name, text); }
  void AddSymbol(std::string_view symbol, OpId op) { symbols_.emplace(symbol, op); }
  // Grows the stores once for an input of about `ops` operations.
  void Reserve(size_t ops, size_t values, size_t operands, size_t attributes);

 private:
  OpId root_;
  std::vector<Op> ops_;
  std::vector<Value> values_;
  std::vector<ValueId> operands_ = {ValueId()};  // never empty, so that &operands_[first] is valid
  std::vector<Attribute> attributes_ = {Attribute{}};
  std::vector<Region> regions_;
  std::vector<Block> blocks_;
  TypeTable types_;
  std::vector<std::string_view> names_;
  std::unordered_map<std::string_view, NameId> name_index_;
  std::vector<OpKind> name_kinds_;
  std::unordered_map<std::string_view, OpId> symbols_;
  std::unordered_map<std::string_view, std::string_view> aliases_;
  std::string path_;
  Content source_;
  std::vector<std::unique_ptr<std::string>> buffers_;
  std::string* small_texts_ = nullptr;  // the buffer that short texts share
};

}  // namespace hespas::ir
