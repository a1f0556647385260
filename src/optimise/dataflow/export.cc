#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <unordered_map>

#include "ir/attributes/attribute.h"
#include "ir/facts/framework_name.h"
#include "optimise/dataflow/import.h"

namespace hespas::optimise {
namespace {

using ir::OpKind;

constexpr uint32_t kUnset = 0xFFFFFFFFu;

class Exporter {
 public:
  explicit Exporter(const ir::Module& source) : source_(source), types_(source.types().size() + 1, kUnset) {}

  ir::Module Run(const Dataflow& flow, ir::OpId main, bool scheduled) {
    out_.SetSource(source_.path(), source_.content());
    top_ = out_.AddBlock({});
    const ir::BlockId source_top = source_.body(source_.root());
    Count(flow);
    for (const ir::OpId op : source_.block(source_top).ops) {
      if (op == main) {
        top_ops_.push_back(AddMain(flow, main));
      } else if (IsNeeded(op)) {
        top_ops_.push_back(CopyOp(op, top_, values_));
      }
    }
    for (const ir::OpId op : top_ops_) {
      if (const auto* symbol = out_.attribute(op, "sym_name")) out_.AddSymbol(SymbolName(*symbol), op);
    }
    const std::vector<ir::RegionId> regions{out_.AddRegion(std::vector<ir::BlockId>{top_})};
    const auto given = Attributes(source_.attributes(source_.root()));
    std::vector<ir::Attribute> attributes(given.begin(), given.end());
    if (scheduled) attributes.push_back({out_.InternName("mhlo.is_scheduled"), "true"});
    out_.AddOp(ir::BlockId(),
               {.name = Name(source_.op(source_.root()).name), .attributes = attributes, .regions = regions});
    return std::move(out_);
  }

 private:
  using Values = std::unordered_map<ir::ValueId, ir::ValueId>;

  static std::string_view SymbolName(std::string_view text) {
    return text.size() >= 2 && text.front() == '"' ? text.substr(1, text.size() - 2) : ir::AsSymbol(text);
  }

  // Functions that something still calls by name, transitively; everything at the top that is no function stays.
  bool IsNeeded(ir::OpId op) const {
    if (source_.kind(op) != OpKind::kFunc) return true;
    const auto* symbol = source_.attribute(op, "sym_name");
    return symbol == nullptr || referenced_.count(SymbolName(*symbol)) > 0;
  }

  void NoteSymbols(std::string_view text, std::vector<std::string_view>& work) {
    for (size_t at = text.find('@'); at != std::string_view::npos; at = text.find('@', at + 1)) {
      const std::string_view symbol = ir::AsSymbol(text.substr(at));
      if (!symbol.empty() && referenced_.insert(symbol).second) work.push_back(symbol);
    }
  }

  void NoteOp(ir::OpId root, std::vector<std::string_view>& work) {
    std::vector<ir::OpId> ops{root};
    while (!ops.empty()) {
      const ir::OpId op = ops.back();
      ops.pop_back();
      for (const ir::Attribute& a : source_.attributes(op)) {
        if (op != root || source_.kind(op) != OpKind::kFunc) NoteSymbols(a.text, work);
      }
      for (const ir::RegionId region : source_.regions(op)) {
        for (const ir::BlockId block : source_.region_blocks(region)) {
          const auto& inner = source_.block(block).ops;
          ops.insert(ops.end(), inner.begin(), inner.end());
        }
      }
    }
  }

  void Count(const Dataflow& flow) {
    std::vector<std::string_view> work;
    std::vector<const Dataflow*> flows{&flow};
    while (!flows.empty()) {
      const Dataflow& at = *flows.back();
      flows.pop_back();
      for (const NodeId id : at.order()) {
        const Node& node = at.node(id);
        for (const ir::Attribute& a : node.attributes) NoteSymbols(a.text, work);
        if (node.bodies.empty() && node.origin.valid() && source_.op(node.origin).first_region.valid()) {
          NoteOp(node.origin, work);
        }
        for (const auto& body : node.bodies) flows.push_back(body.get());
      }
    }
    while (!work.empty()) {
      const ir::OpId callee = source_.FindSymbol(work.back());
      work.pop_back();
      if (callee.valid()) NoteOp(callee, work);
    }
  }

  ir::OpId AddMain(const Dataflow& flow, ir::OpId main) {
    std::vector<ir::ValueId> inputs;
    const ir::BlockId body = AddBody(flow, source_.body(main), {}, TerminatorOf(source_.body(main)));
    const std::vector<ir::RegionId> regions{out_.AddRegion(std::vector<ir::BlockId>{body})};
    return out_.AddOp(top_, {.name = Name(source_.op(main).name),
                             .attributes = Attributes(source_.attributes(main)),
                             .regions = regions,
                             .source = source_.op(main).source});
  }

  std::string_view TerminatorOf(ir::BlockId block) const {
    const auto& ops = source_.block(block).ops;
    return ops.empty() ? std::string_view("func.return") : source_.name(ops.back());
  }

  // A block for `flow`; captured parameters are the given outer values.
  ir::BlockId AddBody(const Dataflow& flow, ir::BlockId, const std::vector<ir::ValueId>& captured,
                      std::string_view terminator) {
    const size_t own = flow.parameters.size() - flow.captured_parameters;
    std::vector<ir::TypeId> types;
    for (size_t i = 0; i < own; ++i) types.push_back(TypeOf(flow.type_id(flow.parameters[i])));
    const ir::BlockId block = out_.AddBlock(types);
    std::vector<ir::ValueId> values(flow.value_count());
    for (size_t i = 0; i < own; ++i) values[flow.parameters[i].index()] = out_.arguments(block)[i];
    for (size_t i = own; i < flow.parameters.size(); ++i) values[flow.parameters[i].index()] = captured[i - own];
    for (const NodeId id : flow.order()) AddNode(flow, flow.node(id), block, values);
    std::vector<ir::ValueId> results;
    for (const ValueId value : flow.outputs) results.push_back(values[value.index()]);
    out_.AddOp(block, {.name = out_.InternName(terminator), .operands = results});
    return block;
  }

  void AddNode(const Dataflow& flow, const Node& node, ir::BlockId block, std::vector<ir::ValueId>& values) {
    std::vector<ir::ValueId> captured;
    for (size_t i = node.own_operand_count(); i < node.operands.size(); ++i) {
      captured.push_back(values[node.operands[i].index()]);
    }
    std::vector<ir::RegionId> regions;
    const bool starts = node.kind == OpKind::kAsyncStart && !node.bodies.empty();
    if (starts) {
      AddStarted(flow, node);
    } else {
      const std::string_view end = node.kind == OpKind::kFusion ? "mhlo.return" : "stablehlo.return";
      for (const auto& body : node.bodies) {
        regions.push_back(out_.AddRegion(std::vector<ir::BlockId>{AddBody(*body, ir::BlockId(), captured, end)}));
      }
    }
    const bool has_regions = node.origin.valid() && source_.op(node.origin).first_region.valid();
    if (node.bodies.empty() && has_regions && node.kind != OpKind::kAsyncDone) {
      Values inner;
      for (size_t i = 0; i < captured.size(); ++i) inner[node.captured[i]] = captured[i];
      regions = CopyRegions(node.origin, inner);
    }
    // Bodies have been added by now, so that these lists are free.
    operands_.clear();
    for (size_t i = 0; i < node.own_operand_count(); ++i) operands_.push_back(values[node.operands[i].index()]);
    result_types_.clear();
    for (uint32_t i = 0; i < node.result_count; ++i) {
      result_types_.push_back(TypeOf(flow.type_id(ValueId(node.first_result.index() + i))));
    }
    const ir::OpId op = out_.AddOp(block, {.name = Name(node.name),
                                           .operands = operands_,
                                           .result_types = result_types_,
                                           .attributes = Attributes(node.attributes, ScopeOf(node)),
                                           .regions = regions,
                                           .source = node.origin.valid() ? source_.op(node.origin).source : 0});
    for (uint32_t i = 0; i < node.result_count; ++i) {
      values[node.first_result.index() + i] = out_.result(op, i);
    }
  }

  // A private function that holds what an asynchronous start runs, as HLO's importer writes it.
  void AddStarted(const Dataflow& flow, const Node& start) {
    const Dataflow& body = *start.bodies[0];
    const ir::BlockId block = AddBody(body, ir::BlockId(), {}, "func.return");
    std::vector<ir::TypeId> inputs, results;
    for (const ValueId parameter : body.parameters) inputs.push_back(TypeOf(body.type_id(parameter)));
    for (const ValueId result : body.outputs) results.push_back(TypeOf(body.type_id(result)));
    const std::string_view symbol = ir::AsSymbol(*flow.attribute(start, "called_computation"));
    const ir::Attribute attributes[] = {
        {out_.InternName("sym_name"), out_.Keep(fmt::format("\"{}\"", symbol))},
        {out_.InternName("function_type"), out_.Keep(out_.types().Text(out_.types().InternFunction(inputs, results)))},
        {out_.InternName("sym_visibility"), "\"private\""},
        {out_.InternName("execution_thread"), "\"main\""}};
    const ir::RegionId region = out_.AddRegion(std::span(&block, 1));
    top_ops_.push_back(out_.AddOp(top_, {.name = out_.InternName("func.func"),
                                         .attributes = attributes,
                                         .regions = std::span(&region, 1),
                                         .source = source_.op(start.origin).source}));
  }

  std::vector<ir::RegionId> CopyRegions(ir::OpId op, Values& values) {
    std::vector<ir::RegionId> out;
    for (const ir::RegionId region : source_.regions(op)) {
      std::vector<ir::BlockId> blocks;
      for (const ir::BlockId block : source_.region_blocks(region)) {
        std::vector<ir::TypeId> types;
        for (const ir::ValueId argument : source_.arguments(block)) types.push_back(TypeOf(source_.type_id(argument)));
        blocks.push_back(out_.AddBlock(types));
        size_t index = 0;
        for (const ir::ValueId argument : source_.arguments(block)) {
          values[argument] = out_.arguments(blocks.back())[index++];
        }
        for (const ir::OpId inner : source_.block(block).ops) CopyOp(inner, blocks.back(), values);
      }
      out.push_back(out_.AddRegion(blocks));
    }
    return out;
  }

  ir::OpId CopyOp(ir::OpId op, ir::BlockId block, Values& values) {
    std::vector<ir::ValueId> operands;
    for (const ir::ValueId operand : source_.operands(op)) operands.push_back(values.at(operand));
    const std::vector<ir::RegionId> regions = CopyRegions(op, values);
    std::vector<ir::TypeId> types;
    for (const ir::ValueId result : source_.results(op)) types.push_back(TypeOf(source_.type_id(result)));
    const ir::OpId copy = out_.AddOp(block, {.name = Name(source_.op(op).name),
                                             .operands = operands,
                                             .result_types = types,
                                             .attributes = Attributes(source_.attributes(op), NameOf(op)),
                                             .regions = regions,
                                             .source = source_.op(op).source});
    size_t index = 0;
    for (const ir::ValueId result : source_.results(op)) values[result] = out_.result(copy, index++);
    return copy;
  }

  ir::NameId Name(ir::NameId id) {
    if (id.index() >= names_.size()) names_.resize(id.index() + 1);
    if (!names_[id.index()].valid()) names_[id.index()] = out_.InternName(source_.name(id));
    return names_[id.index()];
  }

  // The location of the op as `loc` instead of what held its name; none where `location` is empty.
  std::span<const ir::Attribute> Attributes(std::span<const ir::Attribute> attributes, std::string_view location = {}) {
    scratch_.clear();
    for (const ir::Attribute& a : attributes) {
      if (HoldsName(a.name)) continue;
      auto [kept, is_new] = texts_.try_emplace(a.text);
      if (is_new) kept->second = out_.Keep(std::string(a.text));
      scratch_.push_back({Name(a.name), kept->second});
    }
    if (!location.empty()) scratch_.push_back({out_.InternName("loc"), location});
    return scratch_;
  }

  bool HoldsName(ir::NameId id) {
    if (id.index() >= holds_name_.size()) holds_name_.resize(id.index() + 1);
    std::optional<bool>& holds = holds_name_[id.index()];
    if (!holds) holds = ir::HoldsName(source_.name(id));
    return *holds;
  }

  // A node's name, or that of the op it was made from.
  std::string_view ScopeOf(const Node& node) {
    if (!node.scope.valid()) return node.origin.valid() ? NameOf(node.origin) : std::string_view();
    return Location(source_.name(node.scope));
  }

  std::string_view NameOf(ir::OpId op) {
    for (const ir::Attribute& a : source_.attributes(op)) {
      if (!HoldsName(a.name)) continue;
      const auto [known, is_new] = names_in_.try_emplace(a.text);
      if (is_new) known->second = Location(ir::NameIn(source_, a));
      if (!known->second.empty()) return known->second;
    }
    return {};
  }

  std::string_view Location(std::string_view name) {
    if (name.empty()) return {};
    const auto [kept, is_new] = locations_.try_emplace(std::string(name));
    if (is_new) kept->second = out_.Keep(ir::LocationText(name));
    return kept->second;
  }

  ir::TypeId TypeOf(ir::TypeId id) {
    if (id.index() >= types_.size()) types_.resize(id.index() + 1, kUnset);
    if (types_[id.index()] != kUnset) return ir::TypeId(size_t{types_[id.index()]});
    ir::Type type = source_.types()[id];
    for (ir::TypeId& nested : type.nested) nested = TypeOf(nested);
    const ir::TypeId made = out_.types().Intern(std::move(type));
    types_[id.index()] = made.value;
    return made;
  }

  const ir::Module& source_;
  ir::Module out_;
  ir::BlockId top_;
  std::vector<ir::OpId> top_ops_;
  std::vector<uint32_t> types_;
  std::vector<ir::NameId> names_;
  std::vector<ir::Attribute> scratch_;
  std::vector<ir::ValueId> operands_;     // of the op at hand
  std::vector<ir::TypeId> result_types_;  // of the op at hand
  std::unordered_map<std::string_view, std::string_view> texts_;
  std::vector<std::optional<bool>> holds_name_;                      // by name of an attribute
  std::unordered_map<std::string_view, std::string_view> names_in_;  // what texts of such attributes say
  std::unordered_map<std::string, std::string_view> locations_;      // by name, as `loc` holds them
  std::set<std::string_view> referenced_;
  Values values_;
};

}  // namespace

ir::Module Export(const Dataflow& flow, ir::OpId main, bool scheduled) {
  return Exporter(flow.source()).Run(flow, main, scheduled);
}

}  // namespace hespas::optimise
