// Common subexpressions: one node for each operation on the same operands.
//
// Results of optimization barriers are fresh names, so what a program recomputes on purpose stays recomputed; each
// collective has a channel of its own and stays, too (XLA's TPU compiler shares them).
#include <algorithm>
#include <bit>
#include <unordered_map>
#include <vector>

#include "base/text/hash.h"
#include "optimise/dataflow/pass.h"
#include "optimise/fusion/policy.h"

namespace hespas::optimise {
namespace {

using ir::OpKind;
using ir::OpSort;

// The words that tell one operation from another; hashed once, at the end.
class Key {
 public:
  void Clear() { words_.clear(); }
  void Add(uint64_t word) { words_.push_back(word); }
  void Add(const Hash128& hash) { words_.insert(words_.end(), {hash.low, hash.high}); }
  void Add(const ir::Attribute& attribute) {
    Add(attribute.name.value);
    Add(HashBytes(attribute.text));
  }
  Hash128 hash() const {
    return HashBytes({reinterpret_cast<const char*>(words_.data()), words_.size() * sizeof(uint64_t)});
  }

 private:
  std::vector<uint64_t> words_;
};

// Adds the op's regions to a key; local values are numbered in order of appearance.
class RegionReader {
 public:
  explicit RegionReader(const ir::Module& module) : module_(module) {}

  void Add(ir::OpId root, Key& key) {
    numbers_.clear();
    work_.assign(1, root);
    while (!work_.empty()) {
      const ir::OpId op = work_.back();
      work_.pop_back();
      if (op != root) AddOp(op, key);
      for (const ir::RegionId region : module_.regions(op)) {
        for (const ir::BlockId block : module_.region_blocks(region)) {
          for (const ir::ValueId argument : module_.arguments(block)) {
            key.Add(Number(argument));
            key.Add(module_.type_id(argument).value);
          }
          const auto& ops = module_.block(block).ops;
          work_.insert(work_.end(), ops.rbegin(), ops.rend());
        }
      }
    }
  }

 private:
  uint64_t Number(ir::ValueId value) { return numbers_.emplace(value, numbers_.size()).first->second; }

  void AddOp(ir::OpId op, Key& key) {
    key.Add(module_.op(op).name.value);
    key.Add(module_.op(op).operand_count);
    for (const ir::ValueId operand : module_.operands(op)) key.Add(Number(operand));
    for (const ir::ValueId result : module_.results(op)) {
      key.Add(Number(result));
      key.Add(module_.type_id(result).value);
    }
    for (const ir::Attribute& a : module_.attributes(op)) key.Add(a);
  }

  const ir::Module& module_;
  std::unordered_map<ir::ValueId, uint64_t> numbers_;
  std::vector<ir::OpId> work_;
};

bool IsNoise(std::string_view attribute) {
  return attribute == "channel_handle" || attribute == "channel_id" || attribute == "result_layout" ||
         attribute == "xla_shape" || attribute == "mhlo.sharding" || attribute == "source_layout";
}

bool MayShare(const Node& node, const CompilerPolicy& policy);

// Of loops and branches those without others inside.
bool MayShareBodies(const Node& node, const CompilerPolicy& policy) {
  return std::all_of(node.bodies.begin(), node.bodies.end(), [&](const auto& body) {
    return std::all_of(body->order().begin(), body->order().end(),
                       [&](NodeId id) { return body->node(id).bodies.empty() && MayShare(body->node(id), policy); });
  });
}

bool MayShare(const Node& node, const CompilerPolicy& policy) {
  if (node.kind == OpKind::kOptimizationBarrier) return false;
  switch (ir::Traits(node.kind).sort) {
    case OpSort::kCollective:
      return policy.SharesCollectives();
    case OpSort::kControl:
      return !node.bodies.empty() && MayShareBodies(node, policy);
    case OpSort::kAsync:
    case OpSort::kTransfer:
    case OpSort::kCall:
    case OpSort::kRandom:
    case OpSort::kCustomCall:
    case OpSort::kUnknown:
    case OpSort::kOther:
      return false;
    default:
      return node.bodies.empty();
  }
}

// What a node computes; `number` names the values.
class NodeHasher {
 public:
  explicit NodeHasher(const Dataflow& flow) : regions_(flow.source()) {}

  template <class Number>
  Hash128 operator()(const Dataflow& flow, const Node& node, const Number& number) {
    key_.Clear();
    Add(flow, node, number);
    return key_.hash();
  }

 private:
  template <class Number>
  void Add(const Dataflow& flow, const Node& node, const Number& number) {
    for (const uint64_t word : {uint64_t{node.name.value}, node.operands.size(), uint64_t{node.capture_count}}) {
      key_.Add(word);
    }
    for (const ValueId operand : node.operands) key_.Add(number(operand));
    for (uint32_t i = 0; i < node.result_count; ++i) {
      key_.Add(flow.type_id(ValueId(node.first_result.index() + i)).value);
    }
    for (const ir::Attribute& a : node.attributes) {
      if (!IsNoise(flow.source().name(a.name))) key_.Add(a);
    }
    if (node.bodies.empty() && node.origin.valid() && flow.source().op(node.origin).first_region.valid()) {
      regions_.Add(node.origin, key_);
    }
    for (const auto& body : node.bodies) AddBody(*body);
  }

  // Values are numbered in order of appearance.
  void AddBody(const Dataflow& body) {
    std::vector<uint32_t> numbers(body.value_count(), 0);
    uint32_t next = 0;
    for (const ValueId parameter : body.parameters) {
      numbers[parameter.index()] = next++;
      key_.Add(body.type_id(parameter).value);
    }
    const auto number = [&](ValueId value) { return numbers[value.index()]; };
    for (const NodeId id : body.order()) {
      const Node& node = body.node(id);
      Add(body, node, number);
      for (uint32_t i = 0; i < node.result_count; ++i) numbers[body.result(id, i).index()] = next++;
    }
    for (const ValueId out : body.outputs) key_.Add(number(out));
  }

  RegionReader regions_;
  Key key_;
};

// The first node of each hash, in one array: most nodes are the only ones of theirs.
class FirstNodes {
 public:
  explicit FirstNodes(size_t most) : slots_(std::bit_ceil(2 * most + 1)) {}

  // The node that came first with this hash; `id` itself where none did.
  NodeId FirstOf(const Hash128& hash, NodeId id) {
    for (size_t at = std::hash<Hash128>()(hash);; ++at) {
      auto& [key, node] = slots_[at & (slots_.size() - 1)];
      if (!node.valid()) {
        key = hash;
        node = id;
      }
      if (key == hash) return node;
    }
  }

 private:
  std::vector<std::pair<Hash128, NodeId>> slots_;
};

}  // namespace

void EliminateCommonSubexpressions(Dataflow& flow, PassContext& context) {
  FirstNodes firsts(flow.order().size());
  NodeHasher hasher(flow);
  for (const NodeId id : flow.order()) {
    Node& node = flow.node(id);
    for (ValueId& operand : node.operands) operand = flow.Resolve(operand);
    if (!MayShare(node, *context.policy)) continue;
    const Hash128 hash = hasher(flow, node, [](ValueId value) { return value.value; });
    const NodeId first = firsts.FirstOf(hash, id);
    if (first == id) continue;
    for (uint32_t i = 0; i < node.result_count; ++i) flow.Replace(flow.result(id, i), flow.result(first, i));
  }
  flow.Normalise();
}

}  // namespace hespas::optimise
