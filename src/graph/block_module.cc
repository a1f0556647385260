#include "graph/block_module.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "graph/flat_tuples.h"
#include "ir/attributes/attribute.h"
#include "ir/facts/fusion.h"
#include "ir/walk.h"

namespace hespas::graph {
namespace {

class Cloner {
 public:
  explicit Cloner(const ir::Module& from, Form form = Form::kAsItIs) : from_(from), form_(form) {}

  // Appends a copy of `op` to `target`.
  ir::OpId Clone(ir::OpId op, ir::BlockId target) {
    Push(op, target);
    ir::OpId made;
    while (!stack_.empty()) Step(made);
    return made;
  }

  ir::TypeId Type(ir::TypeId id) {
    const auto [found, is_new] = types_.try_emplace(id.value);
    if (!is_new) return found->second;
    ir::Type type = from_.types()[id];
    for (ir::TypeId& member : type.nested) member = Type(member);
    return types_[id.value] = to.types().Intern(std::move(type));
  }
  void Define(ir::ValueId old, ir::ValueId made) { values_[old.value] = made; }
  ir::ValueId Value(ir::ValueId old) const {
    const auto found = values_.find(old.value);
    return found == values_.end() ? ir::ValueId() : found->second;
  }

  ir::Module to;

 private:
  // An op whose regions are being copied.
  struct Frame {
    ir::OpId op;
    ir::BlockId target;
    ir::RegionId region;  // next or current one of the original
    ir::BlockId block;    // current one of the original; invalid between regions
    ir::BlockId made_block;
    size_t next = 0;
    std::vector<ir::BlockId> blocks;    // made, of the current region
    std::vector<ir::RegionId> regions;  // made
    bool fusion = false;                // its ops go to `target`
  };

  void Push(ir::OpId op, ir::BlockId target) {
    if (from_.kind(op) == ir::OpKind::kFusion && form_ == Form::kPortable) {
      const ir::BlockId body = ir::FusionBody(from_, op);
      stack_.push_back({.op = op, .target = target, .block = body, .made_block = target, .fusion = true});
      if (!body.valid()) return;
      size_t i = 0;
      for (const ir::ValueId value : from_.arguments(body)) Define(value, Value(from_.operands(op)[i++]));
      return;
    }
    stack_.push_back({.op = op, .target = target, .region = from_.op(op).first_region});
  }

  // Behind the ops of a fusion: its results are what they return.
  void FinishFusion() {
    const Frame frame = std::move(stack_.back());
    stack_.pop_back();
    if (!frame.block.valid()) return;
    const auto returned = from_.operands(from_.block(frame.block).ops.back());
    for (size_t i = 0; i < returned.size(); ++i) Define(from_.result(frame.op, i), Value(returned[i]));
  }

  void Step(ir::OpId& made) {
    Frame& top = stack_.back();
    if (top.fusion && (!top.block.valid() || top.next + 1 >= from_.block(top.block).ops.size())) return FinishFusion();
    if (top.block.valid()) {
      const auto& ops = from_.block(top.block).ops;
      if (top.next < ops.size()) {
        const ir::OpId inner = ops[top.next++];
        return Push(inner, top.made_block);
      }
      EnterBlock(top, from_.block(top.block).next);
      if (top.block.valid()) return;
      top.regions.push_back(to.AddRegion(top.blocks));
      top.blocks.clear();
      top.region = from_.region(top.region).next;
    }
    if (top.region.valid()) {
      EnterBlock(top, from_.region(top.region).first_block);
      if (top.block.valid()) return;
      top.regions.push_back(to.AddRegion({}));
      top.region = from_.region(top.region).next;
      return;
    }
    const Frame frame = std::move(stack_.back());
    stack_.pop_back();
    made = Make(frame);
  }

  void EnterBlock(Frame& frame, ir::BlockId block) {
    frame.block = block;
    frame.next = 0;
    if (!block.valid()) return;
    std::vector<ir::TypeId> types;
    for (const ir::ValueId value : from_.arguments(block)) types.push_back(Type(from_.type_id(value)));
    frame.made_block = to.AddBlock(types);
    frame.blocks.push_back(frame.made_block);
    size_t i = 0;
    for (const ir::ValueId value : from_.arguments(block)) Define(value, to.arguments(frame.made_block)[i++]);
  }

  ir::OpId Make(const Frame& frame) {
    const ir::OpId op = frame.op;
    std::vector<ir::ValueId> operands;
    for (const ir::ValueId value : from_.operands(op)) operands.push_back(Value(value));
    std::vector<ir::TypeId> types;
    for (const ir::ValueId value : from_.results(op)) types.push_back(Type(from_.type_id(value)));
    std::vector<ir::Attribute> attributes;
    for (const ir::Attribute& a : from_.attributes(op))
      attributes.push_back({to.InternName(from_.name(a.name)), a.text});
    const ir::OpId made = to.AddOp(frame.target, {.name = to.InternName(from_.name(op)),
                                                  .operands = operands,
                                                  .result_types = types,
                                                  .attributes = attributes,
                                                  .regions = frame.regions});
    for (size_t i = 0; i < types.size(); ++i) Define(from_.result(op, i), to.result(made, i));
    return made;
  }

  const ir::Module& from_;
  Form form_;
  std::unordered_map<uint32_t, ir::TypeId> types_;
  std::unordered_map<uint32_t, ir::ValueId> values_;
  std::vector<Frame> stack_;
};

constexpr size_t kLongestSymbolList = 4096;

// Functions that an op (or one nested in it) names, in order.
void AppendCallees(const ir::Module& module, ir::OpId op, std::vector<ir::OpId>& found) {
  const auto look = [&](ir::OpId inner) {
    for (const ir::Attribute& attribute : module.attributes(inner)) {
      std::string_view text = attribute.text;
      if (text.size() > kLongestSymbolList) continue;
      for (size_t at = text.find('@'); at != std::string_view::npos; at = text.find('@', at + 1)) {
        const ir::OpId function =
            module.FindSymbol(ir::AsSymbol(text.substr(at, text.find_first_of(",]>} ", at) - at)));
        if (function.valid()) found.push_back(function);
      }
    }
  };
  look(op);
  ir::WalkNested(module, op, look);
}

std::string_view SymbolName(const ir::Module& module, ir::OpId op) {
  const std::string_view* text = module.attribute(op, "sym_name");
  if (text == nullptr) return {};
  return text->size() >= 2 && text->front() == '"' ? text->substr(1, text->size() - 2) : *text;
}

// Copies functions and what they call, each once, in the order in which they are met.
void CloneFunctions(const ir::Module& module, std::vector<ir::OpId> todo, ir::BlockId top, Cloner& cloner) {
  std::unordered_set<uint32_t> done;
  for (size_t i = 0; i < todo.size(); ++i) {
    if (!done.insert(todo[i].value).second) continue;
    const ir::OpId made = cloner.Clone(todo[i], top);
    cloner.to.AddSymbol(SymbolName(module, todo[i]), made);
    AppendCallees(module, todo[i], todo);
  }
}

void Finish(Cloner& cloner, ir::BlockId top) {
  const ir::BlockId blocks[] = {top};
  const ir::RegionId regions[] = {cloner.to.AddRegion(blocks)};
  cloner.to.AddOp(ir::BlockId(), {.name = cloner.to.InternName("builtin.module"), .regions = regions});
}

}  // namespace

// The block's inputs, and behind them what only its regions use (which the prototype's blocks do not list).
std::vector<ir::ValueId> BlockInputs(const ir::Module& module, const Block& block) {
  std::vector<ir::ValueId> arguments = block.inputs;
  std::unordered_set<uint32_t> known;
  for (const ir::ValueId value : block.inputs) known.insert(value.value);
  const auto define = [&](auto values) {
    for (const ir::ValueId value : values) known.insert(value.value);
  };
  for (const ir::OpId op : block.ops) define(module.results(op));
  for (const ir::OpId op : block.ops) {
    ir::WalkNested(
        module, op, [&](ir::BlockId inner) { define(module.arguments(inner)); },
        [&](ir::OpId inner) {
          for (const ir::ValueId use : module.operands(inner)) {
            if (use.valid() && known.insert(use.value).second) arguments.push_back(use);
          }
          define(module.results(inner));
        });
  }
  return arguments;
}

ir::Module BlockModule(const ir::Module& module, const Block& block, Form form) {
  Cloner cloner(module, form);
  ir::Module& to = cloner.to;
  const bool flat = form == Form::kPortable;
  const ir::BlockId top = to.AddBlock({});
  const std::vector<ir::ValueId> arguments = BlockInputs(module, block);
  std::vector<ir::TypeId> inputs, outputs;
  for (const ir::ValueId value : arguments) inputs.push_back(cloner.Type(module.type_id(value)));
  for (const ir::ValueId value : block.outputs) outputs.push_back(cloner.Type(module.type_id(value)));
  const ir::BlockId body = to.AddBlock(flat ? FlatTypes(to.types(), inputs) : inputs);
  for (size_t i = 0, next = 0; i < arguments.size(); ++i) {
    cloner.Define(arguments[i], flat ? JoinFlat(to, body, inputs[i], next) : to.arguments(body)[i]);
  }
  std::vector<ir::OpId> callees;
  for (const ir::OpId op : block.ops) {
    cloner.Clone(op, body);
    AppendCallees(module, op, callees);
  }
  std::vector<ir::ValueId> returned;
  for (const ir::ValueId value : block.outputs) returned.push_back(cloner.Value(value));
  if (flat) {
    inputs = FlatTypes(to.types(), inputs);
    outputs = FlatTypes(to.types(), outputs);
    returned = TakeFlat(to, body, returned);
  }
  to.AddOp(body, {.name = to.InternName("func.return"), .operands = returned});
  const std::string_view type = to.Keep(to.types().Text(to.types().InternFunction(inputs, outputs)));
  const ir::Attribute attributes[] = {{to.InternName("sym_name"), "\"main\""}, {to.InternName("function_type"), type}};
  const ir::BlockId blocks[] = {body};
  const ir::RegionId regions[] = {to.AddRegion(blocks)};
  const ir::OpId main =
      to.AddOp(top, {.name = to.InternName("func.func"), .attributes = attributes, .regions = regions});
  to.AddSymbol("main", main);
  CloneFunctions(module, std::move(callees), top, cloner);
  Finish(cloner, top);
  return std::move(cloner.to);
}

ir::Module PrivateFunctions(const ir::Module& module) {
  Cloner cloner(module);
  const ir::BlockId top = cloner.to.AddBlock({});
  std::vector<ir::OpId> functions;
  const ir::BlockId body = module.root().valid() ? module.body(module.root()) : ir::BlockId();
  if (body.valid()) {
    for (const ir::OpId op : module.block(body).ops) {
      if (op != module.main()) functions.push_back(op);
    }
  }
  CloneFunctions(module, std::move(functions), top, cloner);
  Finish(cloner, top);
  return std::move(cloner.to);
}

}  // namespace hespas::graph
