#include "read/bytecode/op_reader.h"

#include <fmt/format.h>

#include <deque>

#include "read/bytecode/op_fields.h"
#include "read/bytecode/vhlo_ops.h"

namespace hespas::read::bytecode {
namespace {

using ir::OpId;
using ir::TypeId;
using ir::ValueId;

constexpr size_t kMaximumRegionDepth = 1000;
constexpr std::string_view kNowhere = "loc(unknown)";

enum OpMask : uint8_t {
  kAttributes = 1,
  kResults = 2,
  kOperands = 4,
  kSuccessors = 8,
  kRegions = 16,
  kUseListOrders = 32,
  kProperties = 64,
};

// What an op is made of before its regions have been read.
struct PendingOp {
  ir::NameId name;
  std::vector<ValueId> operands;
  std::vector<TypeId> result_types;
  std::vector<ir::Attribute> attributes;
  std::vector<ir::RegionId> regions;
  size_t regions_left = 0;
  std::vector<uint64_t> result_numbers;
  bool is_isolated = false;
  bool has_own_section = false;
};

// Values of one isolated scope. A region's values follow those of the regions around it.
struct Scope {
  std::vector<ValueId> values;
};

// A region in the course of being read.
struct OpenRegion {
  std::vector<ir::BlockId> blocks;
  size_t blocks_left = 0;
  size_t ops_left = 0;  // in the current block
  uint64_t next_value = 0;
  size_t value_count = 0;
  size_t first_forward = 0;
  PendingOp op;  // the op of the current block whose regions are being read
  bool has_op = false;
};

struct Forward {
  OpId op;
  uint32_t operand = 0;
  uint64_t number = 0;
};

class OpReader {
 public:
  OpReader(std::string_view bytes, const Container& container, Decoder& decoder, ir::Module& module, TextArena& arena,
           Failure& failure)
      : bytes_(bytes), container_(container), decoder_(decoder), module_(module), arena_(arena), failure_(failure) {
    for (const OpName& op : container.op_names) {
      const std::string full = fmt::format("{}.{}", container.dialects[op.dialect], op.name);
      names_.push_back(module.InternName(full));
      fields_.push_back(FieldsOf(full));
    }
  }

  void Run() {
    const size_t begin = static_cast<size_t>(container_.ir.data() - bytes_.data());
    readers_.push_back(ByteReader(bytes_, begin, begin + container_.ir.size(), failure_));
    scopes_.emplace_back();
    // The top level is a block without arguments in a scope of its own.
    regions_.emplace_back();
    regions_.back().blocks_left = 1;
    while (ok() && !regions_.empty()) Step();
    if (ok()) Finish();
  }

 private:
  bool ok() const { return failure_.kind == nullptr; }
  ByteReader& reader() { return readers_.back(); }
  void Fail(std::string message) { reader().Fail(kMalformed, std::move(message)); }

  // One op, one block header, or the end of a region.
  void Step() {
    OpenRegion& region = regions_.back();
    if (region.has_op) return ContinueOp(region);
    if (region.ops_left > 0) return BeginOp(region);
    if (region.blocks_left > 0) return BeginBlock(region);
    EndRegion();
  }

  // --- blocks and regions --------------------------------------------------------------------------------------------

  void BeginBlock(OpenRegion& region) {
    --region.blocks_left;
    const auto [ops, has_arguments] = reader().VarintWithFlag();
    if (ops > reader().remaining()) return Fail("a block has more operations than the bytecode has bytes");
    region.ops_left = ops;
    if (regions_.size() == 1) top_ops_ = ops;
    std::vector<TypeId> types;
    if (has_arguments) types = ArgumentTypes();
    if (container_.version >= 3 && has_arguments && reader().Byte() != 0) SkipUseListOrders(types.size());
    const ir::BlockId block = module_.AddBlock(types);
    region.blocks.push_back(block);
    for (const ValueId argument : module_.arguments(block)) Define(region, argument);
  }

  std::vector<TypeId> ArgumentTypes() {
    std::vector<TypeId> types;
    const size_t count = reader().Count();
    for (size_t i = 0; i < count && ok(); ++i) {
      bool has_location = true;
      uint64_t type = 0;
      if (container_.version >= 4) {
        std::tie(type, has_location) = reader().VarintWithFlag();
      } else {
        type = reader().Varint();
      }
      if (has_location) reader().Varint();
      types.push_back(decoder_.Type(type));
    }
    return types;
  }

  void SkipUseListOrders(size_t values) {
    const size_t lists = values > 1 ? reader().Count() : 1;
    for (size_t i = 0; i < lists && ok(); ++i) {
      if (values > 1) reader().Varint();
      const uint64_t count = reader().VarintWithFlag().first;
      if (count > reader().remaining()) return Fail("a use list is too long");
      for (uint64_t k = 0; k < count; ++k) reader().Varint();
    }
  }

  void BeginRegion() {
    if (regions_.size() >= kMaximumRegionDepth) return reader().Fail(kLimit, "regions nest too deep");
    OpenRegion region;
    region.first_forward = forwards_.size();
    region.blocks_left = reader().Count();
    if (region.blocks_left > 0) {
      region.value_count = reader().Count();
      Scope& scope = scopes_.back();
      // Every value takes a byte somewhere.
      if (region.value_count > bytes_.size() - std::min(bytes_.size(), scope.values.size())) {
        return Fail("regions announce more values than the bytecode has bytes");
      }
      region.next_value = scope.values.size();
      scope.values.resize(scope.values.size() + region.value_count);
    }
    regions_.push_back(std::move(region));
  }

  void EndRegion() {
    OpenRegion done = std::move(regions_.back());
    regions_.pop_back();
    ResolveForwards(done);
    Scope& scope = scopes_.back();
    scope.values.resize(scope.values.size() - done.value_count);
    if (regions_.empty()) {
      top_ = done.blocks.empty() ? ir::BlockId() : done.blocks.front();
      return;
    }
    PendingOp& op = regions_.back().op;
    op.regions.push_back(module_.AddRegion(done.blocks));
    --op.regions_left;
  }

  // --- values --------------------------------------------------------------------------------------------------------

  void Define(OpenRegion& region, ValueId value) {
    Scope& scope = scopes_.back();
    if (region.next_value >= scope.values.size()) return Fail("a region defines more values than it announces");
    scope.values[region.next_value++] = value;
  }

  ValueId ValueAt(uint64_t number) {
    const Scope& scope = scopes_.back();
    if (number < scope.values.size()) return scope.values[number];
    Fail(fmt::format("value {} does not exist", number));
    return ValueId();
  }

  // Operands that stood before their definition (graph regions only), as far as this region defines them.
  void ResolveForwards(const OpenRegion& done) {
    const Scope& scope = scopes_.back();
    const size_t base = scope.values.size() - done.value_count;
    size_t kept = done.first_forward;
    for (size_t i = done.first_forward; i < forwards_.size(); ++i) {
      const Forward f = forwards_[i];
      const ValueId value = scope.values[f.number];
      if (value.valid()) {
        module_.SetOperand(f.op, f.operand, value);
      } else if (f.number >= base) {
        Fail(fmt::format("value {} is used but never defined", f.number));
      } else {
        forwards_[kept++] = f;
      }
    }
    forwards_.resize(std::min(kept, forwards_.size()));
  }

  // --- operations ----------------------------------------------------------------------------------------------------

  void BeginOp(OpenRegion& region) {
    --region.ops_left;
    const uint64_t index = reader().Varint();
    if (index >= names_.size()) return Fail(fmt::format("operation name {} does not exist", index));
    const uint8_t mask = reader().Byte();
    const std::string_view location = decoder_.Location(reader().Varint());
    PendingOp op{.name = names_[index]};
    std::vector<NamedText> attributes;
    if (mask & kAttributes) attributes = decoder_.Dictionary(reader().Varint());
    if (mask & kProperties) ReadProperties(index, attributes);
    SetAttributes(op, attributes);
    if (location != kNowhere && location.starts_with("loc(")) {
      op.attributes.push_back({module_.InternName("loc"), location.substr(4, location.size() - 5)});
    }
    if (mask & kResults) ReadResultTypes(op);
    if (mask & kOperands) ReadOperands(op);
    if (mask & kSuccessors) SkipSuccessors();
    if (mask & kUseListOrders) SkipUseListOrders(op.result_types.size());
    if (mask & kRegions) {
      const auto [count, is_isolated] = reader().VarintWithFlag();
      if (count > reader().remaining()) return Fail("an operation has too many regions");
      op.regions_left = count;
      op.is_isolated = is_isolated;
    }
    if (!ok()) return;
    if (op.is_isolated && op.regions_left > 0) EnterIsolated(op);
    region.op = std::move(op);
    region.has_op = true;
  }

  // An isolated op starts numbering again; since version 2 its regions are in a section of their own.
  void EnterIsolated(PendingOp& op) {
    scopes_.emplace_back();
    if (container_.version < 2) return;
    const Section section = ReadSection(reader());
    if (section.id != SectionId::kIr) return Fail("the regions of an operation are no IR section");
    const size_t begin = section.data.empty() ? 0 : static_cast<size_t>(section.data.data() - bytes_.data());
    readers_.push_back(ByteReader(bytes_, begin, begin + section.data.size(), failure_));
    op.has_own_section = true;
  }

  void ContinueOp(OpenRegion& region) {
    if (region.op.regions_left > 0) return BeginRegion();
    if (region.op.is_isolated && !region.op.regions.empty()) scopes_.pop_back();
    if (region.op.has_own_section) readers_.pop_back();
    const PendingOp& op = region.op;
    const ir::BlockId block = IsRoot(op) ? ir::BlockId() : region.blocks.back();
    const OpId id = module_.AddOp(block, {.name = op.name,
                                          .operands = op.operands,
                                          .result_types = op.result_types,
                                          .attributes = op.attributes,
                                          .regions = op.regions});
    for (const ValueId result : module_.results(id)) Define(region, result);
    for (uint32_t i = 0; i < op.result_numbers.size(); ++i) {
      if (!op.operands[i].valid()) forwards_.push_back({id, i, op.result_numbers[i]});
    }
    region.has_op = false;
  }

  // The module that is the only op of the file.
  bool IsRoot(const PendingOp& op) const {
    return regions_.size() == 1 && top_ops_ == 1 && module_.name(op.name) == "builtin.module";
  }

  void ReadResultTypes(PendingOp& op) {
    const size_t count = reader().Count();
    for (size_t i = 0; i < count && ok(); ++i) op.result_types.push_back(decoder_.Type(reader().Varint()));
  }

  void ReadOperands(PendingOp& op) {
    const size_t count = reader().Count();
    for (size_t i = 0; i < count && ok(); ++i) {
      op.result_numbers.push_back(reader().Varint());
      op.operands.push_back(ValueAt(op.result_numbers.back()));
    }
  }

  void SkipSuccessors() {
    const size_t count = reader().Count();
    for (size_t i = 0; i < count && ok(); ++i) reader().Varint();
  }

  // --- attributes ----------------------------------------------------------------------------------------------------

  void ReadProperties(uint64_t op, std::vector<NamedText>& into) {
    const uint64_t index = reader().Varint();
    if (index >= container_.properties.size()) return Fail(fmt::format("property {} does not exist", index));
    const std::string_view blob = container_.properties[index];
    if (fields_[op].empty()) {
      into.push_back({"properties", arena_.Copy(QuotedText(blob))});
      return;
    }
    const size_t begin = blob.empty() ? 0 : static_cast<size_t>(blob.data() - bytes_.data());
    ByteReader fields(bytes_, begin, begin + blob.size(), failure_);
    ByteReader counter = fields;
    size_t count = 0;
    for (; ok() && !counter.at_end(); ++count) counter.Varint();
    std::string_view rest = FieldsOf(fields_[op], count);
    while (!rest.empty() && ok() && !fields.at_end()) {
      const size_t end = std::min(rest.find(' '), rest.size());
      const std::string_view field = rest.substr(0, end);
      rest.remove_prefix(std::min(end + 1, rest.size()));
      ReadField(fields, field, into);
    }
  }

  void ReadField(ByteReader& fields, std::string_view field, std::vector<NamedText>& into) {
    if (!field.ends_with('?')) {
      into.push_back({field, decoder_.Attribute(fields.Varint())});
      return;
    }
    const auto [index, is_given] = fields.VarintWithFlag();
    if (is_given) into.push_back({field.substr(0, field.size() - 1), decoder_.Attribute(index)});
  }

  void SetAttributes(PendingOp& op, std::vector<NamedText>& attributes) {
    ConvertVhloAttributes(module_.name(op.name), attributes, arena_);
    for (const NamedText& a : attributes) {
      op.attributes.push_back({module_.InternName(a.name), a.text == "unit" ? std::string_view() : a.text});
    }
  }

  // --- the end -------------------------------------------------------------------------------------------------------

  // The file's first op is the module; a file without one gets one around its ops.
  void Finish() {
    if (!module_.root().valid()) {
      const ir::RegionId region = module_.AddRegion(std::span(&top_, 1));
      module_.AddOp(ir::BlockId(), {.name = module_.InternName("builtin.module"), .regions = std::span(&region, 1)});
    }
    const ir::BlockId body = module_.body(module_.root());
    if (!body.valid()) return;
    for (const OpId op : module_.block(body).ops) {
      const std::string_view* symbol = module_.attribute(op, "sym_name");
      if (symbol != nullptr) module_.AddSymbol(arena_.Copy(Unquoted(*symbol)), op);
    }
  }

  std::string_view bytes_;
  const Container& container_;
  Decoder& decoder_;
  ir::Module& module_;
  TextArena& arena_;
  Failure& failure_;
  std::vector<ir::NameId> names_;
  std::vector<std::span<const OpFields>> fields_;
  std::vector<ByteReader> readers_;
  std::vector<Scope> scopes_;
  std::vector<OpenRegion> regions_;
  std::vector<Forward> forwards_;
  ir::BlockId top_;
  size_t top_ops_ = 0;
};

}  // namespace

void ReadOperations(std::string_view bytes, const Container& container, Decoder& decoder, ir::Module& module,
                    TextArena& arena, Failure& failure) {
  OpReader(bytes, container, decoder, module, arena, failure).Run();
}

}  // namespace hespas::read::bytecode
