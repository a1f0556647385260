#include "optimise/dataflow/import.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "ir/attributes/attribute.h"
#include "ir/facts/framework_name.h"
#include "ir/facts/library_call.h"
#include "optimise/dataflow/scopes.h"

namespace hespas::optimise {
namespace {

using ir::OpKind;

constexpr int kDepthLimit = 48;              // nested loops and calls; deeper ones stay as they are
constexpr size_t kCallLimit = 1'000'000;     // calls expanded
constexpr size_t kInlineLimit = 20'000'000;  // ops after expansion

// Nodes for an op of the program, at first: passes add some before Compact() takes out the old ones.
constexpr size_t kRoom = 2;

using ValueMap = std::unordered_map<ir::ValueId, ValueId>;

// Values that the regions of `op` use and that are defined outside them, in order of first use.
std::vector<ir::ValueId> Captures(const ir::Module& module, ir::OpId op) {
  std::vector<ir::ValueId> uses;
  std::vector<ir::OpId> work{op};
  std::unordered_map<ir::ValueId, bool> defined;
  while (!work.empty()) {
    const ir::OpId at = work.back();
    work.pop_back();
    for (const ir::RegionId region : module.regions(at)) {
      for (const ir::BlockId block : module.region_blocks(region)) {
        for (const ir::ValueId argument : module.arguments(block)) defined[argument] = true;
        for (const ir::OpId inner : module.block(block).ops) {
          for (const ir::ValueId result : module.results(inner)) defined[result] = true;
          for (const ir::ValueId operand : module.operands(inner)) uses.push_back(operand);
          work.push_back(inner);
        }
      }
    }
  }
  std::vector<ir::ValueId> out;
  for (const ir::ValueId use : uses) {
    if (!defined.emplace(use, true).second) continue;
    out.push_back(use);
  }
  return out;
}

class Importer {
 public:
  Importer(ir::Module& source, const ImportOptions& options) : source_(source), options_(options), scopes_(source) {}

  std::unique_ptr<Dataflow> Function(ir::OpId main) {
    auto flow = std::make_unique<Dataflow>(source_);
    const ir::BlockId body = source_.body(main);
    ValueMap values;
    for (const ir::ValueId argument : source_.arguments(body))
      values[argument] = flow->AddParameter(source_.type_id(argument));
    flow->Reserve(kRoom * source_.block(body).ops.size());
    flow->outputs = Block(*flow, body, values, 0);
    return lost_ ? nullptr : std::move(flow);
  }

 private:
  // Adds the ops of a block; returns what its terminator returns.
  std::vector<ValueId> Block(Dataflow& flow, ir::BlockId block, ValueMap& values, int depth) {
    for (const ir::OpId op : std::vector<ir::OpId>(source_.block(block).ops)) {
      if (ir::IsTerminator(source_.kind(op))) return Operands(op, values);
      if (!Expand(flow, op, values, depth)) AddNode(flow, op, values, depth);
    }
    return {};
  }

  ValueList Operands(ir::OpId op, const ValueMap& values) {
    ValueList out;
    for (const ir::ValueId operand : source_.operands(op)) out.push_back(Find(operand, values));
    return out;
  }

  // A block argument of a block that branches lead to has no value here.
  ValueId Find(ir::ValueId value, const ValueMap& values) {
    const auto found = values.find(value);
    lost_ = lost_ || found == values.end();
    return lost_ ? ValueId(0) : found->second;
  }

  // A call is replaced by the body of its callee.
  bool Expand(Dataflow& flow, ir::OpId op, ValueMap& values, int depth) {
    if (!options_.inline_calls || source_.kind(op) != OpKind::kFuncCall || depth >= kDepthLimit) return false;
    const std::string_view* callee = source_.attribute(op, "callee");
    const ir::OpId function = callee == nullptr ? ir::OpId() : source_.FindSymbol(ir::AsSymbol(*callee));
    if (!function.valid()) return false;
    const ir::BlockId body = source_.body(function);
    if (!body.valid() || flow.node_count() + source_.block(body).ops.size() > kInlineLimit) return false;
    if (source_.block(body).argument_count != source_.op(op).operand_count) return false;
    if (++calls_ > kCallLimit || std::find(active_.begin(), active_.end(), function) != active_.end()) return false;
    ValueMap inner;
    size_t index = 0;
    for (const ValueId value : Operands(op, values)) inner[source_.arguments(body)[index++]] = value;
    active_.push_back(function);
    const ir::NameId caller = std::exchange(caller_, scopes_.Of(op, caller_));
    const std::vector<ValueId> results = Block(flow, body, inner, depth + 1);
    caller_ = caller;
    active_.pop_back();
    if (results.size() != source_.op(op).result_count) return false;
    for (size_t i = 0; i < results.size(); ++i) values[source_.result(op, i)] = results[i];
    return true;
  }

  bool HasExecutedBodies(ir::OpId op) const {
    const OpKind kind = source_.kind(op);
    return kind == OpKind::kWhile || kind == OpKind::kCase || kind == OpKind::kIf || kind == OpKind::kFusion;
  }

  void AddNode(Dataflow& flow, ir::OpId op, ValueMap& values, int depth) {
    Node node;
    node.kind = source_.kind(op);
    node.name = source_.op(op).name;
    node.operands = Operands(op, values);
    node.origin = op;
    for (const ir::Attribute& a : source_.attributes(op)) {
      if (!scopes_.Holds(a.name)) node.attributes.push_back(a);
    }
    node.scope = scopes_.Of(op, caller_);
    if (node.kind == OpKind::kCustomCall) Unwrap(node, op);
    if (source_.op(op).first_region.valid()) AddRegions(node, op, values, depth);
    types_.clear();
    for (const ir::ValueId result : source_.results(op)) types_.push_back(source_.type_id(result));
    const NodeId id = flow.Add(std::move(node), types_);
    for (size_t i = 0; i < source_.op(op).result_count; ++i) values[source_.result(op, i)] = flow.result(id, i);
  }

  // A call of elementwise mathematics is that operation, so that it fuses.
  void Unwrap(Node& node, ir::OpId op) {
    const std::string name = ir::CalledOperation(source_, op);
    const OpKind kind = ir::KindOf(name);
    const bool plain = !node.operands.empty() && source_.op(op).result_count == 1;
    if (!plain || ir::Traits(kind).sort != ir::OpSort::kElementwise) return;
    node.kind = kind;
    node.name = source_.InternName(name);
    node.attributes.clear();
  }

  void AddRegions(Node& node, ir::OpId op, const ValueMap& values, int depth) {
    const std::vector<ir::ValueId> captures = Captures(source_, op);
    for (const ir::ValueId value : captures) node.operands.push_back(Find(value, values));
    node.capture_count = static_cast<uint32_t>(captures.size());
    if (!HasExecutedBodies(op) || depth >= kDepthLimit) {
      node.captured = captures;
      return;
    }
    for (const ir::RegionId region : source_.regions(op)) {
      auto body = std::make_unique<Dataflow>(source_);
      ValueMap inner;
      const ir::BlockId block = source_.region(region).first_block;
      if (!block.valid()) continue;
      for (const ir::ValueId argument : source_.arguments(block)) {
        inner[argument] = body->AddParameter(source_.type_id(argument));
      }
      for (const ir::ValueId value : captures) inner[value] = body->AddParameter(source_.type_id(value));
      body->captured_parameters = static_cast<uint32_t>(captures.size());
      body->outputs = Block(*body, block, inner, depth + 1);
      node.bodies.push_back(std::move(body));
    }
  }

  ir::Module& source_;
  ImportOptions options_;
  Scopes scopes_;
  ir::NameId caller_;             // the name of the call that is being expanded
  std::vector<ir::OpId> active_;  // functions being expanded; recursion stays a call
  size_t calls_ = 0;
  std::vector<ir::TypeId> types_;  // of the results of the op at hand
  bool lost_ = false;              // a value was read that nothing on the way has made
};

}  // namespace

std::unique_ptr<Dataflow> Import(ir::Module& source, ir::OpId main, const ImportOptions& options) {
  return Importer(source, options).Function(main);
}

}  // namespace hespas::optimise
