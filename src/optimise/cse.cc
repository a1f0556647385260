// Common subexpressions: one node for each operation on the same operands.
//
// Results of optimization barriers are fresh names, so what a program recomputes on purpose stays recomputed; each
// collective has a channel of its own and stays, too (XLA's TPU compiler shares them).
#include <unordered_map>

#include "base/hash.h"
#include "optimise/pass.h"

namespace hespas::optimise {
namespace {

using ir::OpKind;
using ir::OpSort;

class RegionHasher {
 public:
  explicit RegionHasher(const ir::Module& module) : module_(module) {}

  // A hash of the op's regions in which local values are numbered in order of appearance.
  Hash128 operator()(ir::OpId root) {
    numbers_.clear();
    Hash128 hash{};
    std::vector<ir::OpId> work{root};
    while (!work.empty()) {
      const ir::OpId op = work.back();
      work.pop_back();
      if (op != root) hash = Mix(hash, op);
      for (const ir::RegionId region : module_.regions(op)) {
        for (const ir::BlockId block : module_.region_blocks(region)) {
          for (const ir::ValueId argument : module_.arguments(block)) {
            hash = Combine(Combine(hash, Number(argument)), module_.type_id(argument).value);
          }
          const auto& ops = module_.block(block).ops;
          work.insert(work.end(), ops.rbegin(), ops.rend());
        }
      }
    }
    return hash;
  }

 private:
  uint64_t Number(ir::ValueId value) { return numbers_.emplace(value, numbers_.size()).first->second; }

  Hash128 Mix(Hash128 hash, ir::OpId op) {
    hash = Combine(hash, module_.op(op).name.value);
    for (const ir::ValueId operand : module_.operands(op)) hash = Combine(hash, Number(operand));
    for (const ir::ValueId result : module_.results(op)) {
      hash = Combine(Combine(hash, Number(result)), module_.type_id(result).value);
    }
    for (const ir::Attribute& a : module_.attributes(op)) {
      hash = Combine(Combine(hash, a.name.value), HashBytes(a.text));
    }
    return hash;
  }

  const ir::Module& module_;
  std::unordered_map<ir::ValueId, uint64_t> numbers_;
};

bool MayShare(const Dataflow& flow, const Node& node) {
  if (!node.bodies.empty() || node.kind == OpKind::kOptimizationBarrier) return false;
  switch (ir::Traits(node.kind).sort) {
    case OpSort::kCollective:
      return flow.dots_take_producers;
    case OpSort::kAsync:
    case OpSort::kTransfer:
    case OpSort::kControl:
    case OpSort::kCall:
    case OpSort::kRandom:
    case OpSort::kCustomCall:
    case OpSort::kUnknown:
    case OpSort::kOther:
      return false;
    default:
      return true;
  }
}

bool IsNoise(std::string_view attribute) {
  return attribute == "channel_handle" || attribute == "channel_id" || attribute == "result_layout" ||
         attribute == "xla_shape" || attribute == "mhlo.sharding" || attribute == "source_layout";
}

}  // namespace

void EliminateCommonSubexpressions(Dataflow& flow, PassContext&) {
  std::unordered_map<Hash128, NodeId> seen;
  seen.reserve(flow.order().size());
  RegionHasher regions(flow.source());
  std::vector<uint32_t> key;
  for (const NodeId id : flow.order()) {
    Node& node = flow.node(id);
    for (WireId& operand : node.operands) operand = flow.Resolve(operand);
    if (!MayShare(flow, node)) continue;
    key.assign({node.name.value, static_cast<uint32_t>(node.operands.size())});
    for (const WireId operand : node.operands) key.push_back(operand.value);
    for (uint32_t i = 0; i < node.result_count; ++i) key.push_back(flow.type_id(flow.result(id, i)).value);
    Hash128 hash = HashBytes({reinterpret_cast<const char*>(key.data()), key.size() * sizeof(uint32_t)});
    for (const ir::Attribute& a : node.attributes) {
      if (!IsNoise(flow.source().name(a.name))) hash = Combine(Combine(hash, a.name.value), HashBytes(a.text));
    }
    if (node.origin.valid() && flow.source().op(node.origin).first_region.valid()) {
      hash = Combine(hash, regions(node.origin));
    }
    const auto [found, is_new] = seen.emplace(hash, id);
    if (is_new) continue;
    for (uint32_t i = 0; i < node.result_count; ++i) flow.Replace(flow.result(id, i), flow.result(found->second, i));
  }
  flow.Normalise();
}

}  // namespace hespas::optimise
