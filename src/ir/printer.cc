#include "ir/printer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <unordered_map>
#include <vector>

#include "ir/attributes/canonical.h"
#include "ir/attributes/op_properties.h"
#include "ir/facts/framework_name.h"

namespace hespas::ir {
namespace {

// Numbers of values as MLIR gives them in generic form: one count over the whole op, regions last in, first out.
class Numbering {
 public:
  Numbering(const Module& module, OpId root) : module_(module), names_(module.value_count()) {
    NumberResults(root);
    std::vector<RegionId> stack;
    PushRegions(root, stack);
    while (!stack.empty()) {
      const RegionId region = stack.back();
      stack.pop_back();
      for (BlockId b = module_.region(region).first_block; b.valid(); b = module_.block(b).next) NumberBlock(region, b);
      for (BlockId b = module_.region(region).first_block; b.valid(); b = module_.block(b).next) {
        for (const OpId op : module_.block(b).ops) PushRegions(op, stack);
      }
    }
  }

  void Append(std::string& out, ValueId value) const {
    if (!value.valid()) {
      out += "%undefined";
      return;
    }
    const Value& v = module_.value(value);
    if (v.is_argument) {
      const uint32_t name = names_[value.index()];
      fmt::format_to(std::back_inserter(out), "%{}{}", name & kEntry ? "arg" : "", name & ~kEntry);
      return;
    }
    const Op& op = module_.op(OpId(size_t{v.owner}));
    fmt::format_to(std::back_inserter(out), "%{}", names_[op.first_result.index()]);
    if (op.result_count > 1) fmt::format_to(std::back_inserter(out), "#{}", value.index() - op.first_result.index());
  }
  void AppendResults(std::string& out, const Op& op) const {
    fmt::format_to(std::back_inserter(out), "%{}", names_[op.first_result.index()]);
    if (op.result_count > 1) fmt::format_to(std::back_inserter(out), ":{}", op.result_count);
  }

 private:
  static constexpr uint32_t kEntry = 0x80000000u;

  void PushRegions(OpId op, std::vector<RegionId>& stack) const {
    for (RegionId r = module_.op(op).first_region; r.valid(); r = module_.region(r).next) stack.push_back(r);
  }
  void NumberResults(OpId id) {
    const Op& op = module_.op(id);
    if (op.result_count > 0) names_[op.first_result.index()] = next_value_++;
  }
  void NumberBlock(RegionId region, BlockId block) {
    const bool entry = module_.region(region).first_block == block;
    for (const ValueId argument : module_.arguments(block)) {
      names_[argument.index()] = entry ? next_argument_++ | kEntry : next_value_++;
    }
    for (const OpId op : module_.block(block).ops) NumberResults(op);
  }

  const Module& module_;
  std::vector<uint32_t> names_;
  uint32_t next_value_ = 0;
  uint32_t next_argument_ = 0;
};

// Modules made by passes have no source, but attributes of either origin.
bool IsFromHlo(const Module& module) {
  const std::string_view head = module.source().substr(0, size_t{1} << 20);
  return head.empty() || head.starts_with("HloModule") || head.find("\nHloModule") != std::string_view::npos;
}

class GenericPrinter {
 public:
  GenericPrinter(const Module& module, OpId root, const PrintOptions& options)
      : module_(module),
        options_(options),
        root_(root),
        from_hlo_(IsFromHlo(module)),
        numbers_(module, root),
        canonical_(module) {}

  std::string Print() {
    OpenOp(root_);
    while (!stack_.empty()) Step();
    return std::move(out_);
  }

 private:
  struct Frame {
    OpId op;
    RegionId region;
    BlockId block;
    size_t next_op = 0;
    uint32_t block_number = 0;
  };

  // One op of the innermost open region, or the end of its block or of itself.
  void Step() {
    Frame& top = stack_.back();
    if (top.block.valid() && top.next_op < module_.block(top.block).ops.size()) {
      const OpId op = module_.block(top.block).ops[top.next_op++];
      out_.append(2 * stack_.size(), ' ');
      OpenOp(op);
      return;
    }
    if (top.block.valid() && module_.block(top.block).next.valid()) {
      top.block = module_.block(top.block).next;
      top.next_op = 0;
      ++top.block_number;
      AppendBlockHeader(top, true);
      return;
    }
    const OpId op = top.op;
    const RegionId next = module_.region(top.region).next;
    stack_.pop_back();
    out_.append(2 * stack_.size(), ' ');
    out_ += '}';
    if (next.valid()) {
      out_ += ", ";
      OpenRegion(op, next);
    } else {
      out_ += ')';
      CloseOp(op);
    }
  }

  void OpenOp(OpId id) {
    const Op& op = module_.op(id);
    if (op.result_count > 0) {
      numbers_.AppendResults(out_, op);
      out_ += " = ";
    }
    out_ += '"';
    out_ += module_.name(id);
    out_ += "\"(";
    const char* separator = "";
    for (const ValueId operand : module_.operands(id)) {
      out_ += separator;
      separator = ", ";
      numbers_.Append(out_, operand);
    }
    out_ += ')';
    AppendSuccessors(id);
    CollectAttributes(id);
    AppendDictionary(properties_, " <{", "}>");
    if (op.first_region.valid()) {
      out_ += " (";
      OpenRegion(id, op.first_region);
    } else {
      AppendTail(id);
    }
  }

  void OpenRegion(OpId op, RegionId region) {
    out_ += "{\n";
    const BlockId block = module_.region(region).first_block;
    stack_.push_back({op, region, block});
    if (block.valid()) {
      const bool header = module_.block(block).ops.empty() || module_.block(block).argument_count > 0;
      AppendBlockHeader(stack_.back(), header);
    }
  }

  void CloseOp(OpId id) {
    CollectAttributes(id);
    AppendTail(id);
  }

  void AppendTail(OpId id) {
    AppendDictionary(attached_, " {", "}");
    out_ += " : (";
    const char* separator = "";
    for (const ValueId operand : module_.operands(id)) {
      out_ += separator;
      separator = ", ";
      out_ += operand.valid() ? TypeText(module_.type_id(operand)) : "none";
    }
    out_ += ") -> ";
    AppendResultTypes(id);
    const std::string name = options_.locations ? OwnFrameworkName(module_, id) : std::string();
    if (!name.empty()) fmt::format_to(std::back_inserter(out_), " loc({})", LocationText(name));
    out_ += '\n';
  }

  void AppendResultTypes(OpId id) {
    const auto results = module_.results(id);
    const bool bare = results.size() == 1 && module_.type(results[0]).kind != TypeKind::kFunction;
    if (!bare) out_ += '(';
    const char* separator = "";
    for (const ValueId result : results) {
      out_ += separator;
      separator = ", ";
      out_ += TypeText(module_.type_id(result));
    }
    if (!bare) out_ += ')';
  }

  void AppendBlockHeader(const Frame& frame, bool header) {
    const Block& block = module_.block(frame.block);
    const std::vector<uint32_t> predecessors = PredecessorsOf(frame.region, frame.block_number);
    if (!header && predecessors.empty()) return;
    out_.append(2 * (stack_.size() - 1), ' ');
    fmt::format_to(std::back_inserter(out_), "^bb{}", frame.block_number);
    if (block.argument_count > 0) {
      const char* separator = "(";
      for (const ValueId argument : module_.arguments(frame.block)) {
        out_ += separator;
        separator = ", ";
        numbers_.Append(out_, argument);
        out_ += ": ";
        out_ += TypeText(module_.type_id(argument));
      }
      out_ += ')';
    }
    out_ += ':';
    if (predecessors.size() == 1) {
      fmt::format_to(std::back_inserter(out_), "  // pred: ^bb{}", predecessors[0]);
    } else if (!predecessors.empty()) {
      fmt::format_to(std::back_inserter(out_), "  // {} preds: ^bb{}", predecessors.size(),
                     fmt::join(predecessors, ", ^bb"));
    } else if (frame.block_number > 0) {
      out_ += "  // no predecessors";
    }
    out_ += '\n';
  }

  // Numbers of the blocks whose last op branches to block `number` of its region.
  std::vector<uint32_t> PredecessorsOf(RegionId region, uint32_t number) {
    const BlockId first = module_.region(region).first_block;
    if (!module_.block(first).next.valid()) return {};
    auto& predecessors = predecessors_[region];
    if (predecessors.empty()) {
      uint32_t from = 0;
      for (BlockId b = first; b.valid(); b = module_.block(b).next, ++from) {
        if (module_.block(b).ops.empty()) continue;
        for (const uint32_t to : Successors(module_.block(b).ops.back())) predecessors[to].push_back(from);
      }
      predecessors[~0u];  // marks the region as seen
    }
    const auto found = predecessors.find(number);
    return found == predecessors.end() ? std::vector<uint32_t>() : found->second;
  }

  std::vector<uint32_t> Successors(OpId op) const {
    std::vector<uint32_t> numbers;
    const std::string_view* text = module_.attribute(op, "^successors");
    if (!text) return numbers;
    bool in_number = false;
    for (const char c : *text) {
      const bool digit = c >= '0' && c <= '9';
      if (digit && !in_number) numbers.push_back(0);
      if (digit) numbers.back() = numbers.back() * 10 + static_cast<uint32_t>(c - '0');
      in_number = digit;
    }
    return numbers;
  }

  void AppendSuccessors(OpId op) {
    const std::vector<uint32_t> numbers = Successors(op);
    if (!numbers.empty()) fmt::format_to(std::back_inserter(out_), "[^bb{}]", fmt::join(numbers, ", ^bb"));
  }

  // Sorts the op's attributes into properties and the others, each by name.
  void CollectAttributes(OpId id) {
    properties_.clear();
    attached_.clear();
    const std::string_view op_name = module_.name(id);
    for (const ir::Attribute& attribute : module_.attributes(id)) {
      const std::string_view name = module_.name(attribute.name);
      if (name == "loc" || name == "^successors") continue;
      (IsProperty(op_name, name) ? properties_ : attached_).push_back({name, attribute.text});
    }
    if (const auto added = DefaultPropertyOf(op_name)) {
      const bool given =
          std::any_of(properties_.begin(), properties_.end(), [&](const Named& n) { return n.name == added->name; });
      if (!given) properties_.push_back({added->name, added->text});
    }
    std::sort(properties_.begin(), properties_.end());
    std::sort(attached_.begin(), attached_.end());
  }

  struct Named {
    std::string_view name;
    std::string_view text;
    bool operator<(const Named& other) const { return name < other.name; }
  };

  void AppendDictionary(const std::vector<Named>& entries, const char* open, const char* close) {
    if (entries.empty()) return;
    out_ += open;
    const char* separator = "";
    for (const Named& entry : entries) {
      out_ += separator;
      separator = ", ";
      out_ += Canonical::Named(entry.name, ValueText(entry));
    }
    out_ += close;
  }

  std::string ValueText(const Named& entry) {
    if (entry.text.empty()) return {};
    // HLO's own notation, which is no attribute of MLIR.
    if (from_hlo_ && entry.name == "metadata" && entry.text.starts_with('{')) return EscapeString(entry.text);
    return canonical_.Attribute(entry.text, MeaningOf(entry.name));
  }

  const std::string& TypeText(TypeId id) {
    if (type_texts_.size() <= id.index()) type_texts_.resize(module_.types().size());
    std::string& text = type_texts_[id.index()];
    if (text.empty()) text = module_.types().Text(id);
    return text;
  }

  const Module& module_;
  const PrintOptions options_;
  const OpId root_;
  const bool from_hlo_;
  const Numbering numbers_;
  Canonical canonical_;
  std::string out_;
  std::vector<Frame> stack_;
  std::vector<Named> properties_;
  std::vector<Named> attached_;
  std::vector<std::string> type_texts_;
  std::unordered_map<RegionId, std::unordered_map<uint32_t, std::vector<uint32_t>>> predecessors_;
};

}  // namespace

std::string PrintGeneric(const Module& module, const PrintOptions& options) {
  return PrintGeneric(module, module.root(), options);
}

std::string PrintGeneric(const Module& module, OpId op, const PrintOptions& options) {
  return GenericPrinter(module, op, options).Print();
}

}  // namespace hespas::ir
