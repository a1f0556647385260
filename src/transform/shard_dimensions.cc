#include "transform/shard_dimensions.h"

#include <algorithm>
#include <numeric>

#include "ir/attributes/attribute.h"
#include "ir/attributes/op_attributes.h"
#include "ir/walk.h"

namespace hespas::transform {
namespace {

using ir::OpId;
using ir::OpKind;
using ir::OpSort;
using ir::ValueId;

template <class Range>
std::vector<ValueId> List(const Range& range) {
  std::vector<ValueId> out;
  for (const ValueId value : range) out.push_back(value);
  return out;
}

bool DependsOnDevice(OpKind kind) { return kind == OpKind::kPartitionId || kind == OpKind::kReplicaId; }

}  // namespace

ShardDimensions::ShardDimensions(const ir::Module& module, const std::function<bool(OpId)>& over_data, int64_t devices)
    : module_(module), over_data_(over_data), devices_(devices), of_device_(module.value_count()) {
  first_.reserve(module.value_count() + 1);
  size_t nodes = 0;
  for (size_t v = 0; v < module.value_count(); ++v) {
    first_.push_back(nodes);
    nodes += module.type(ValueId(v)).dims.size();
  }
  first_.push_back(nodes);
  parent_.resize(nodes);
  std::iota(parent_.begin(), parent_.end(), size_t{0});
  std::vector<OpId> ops;
  ir::WalkNested(module, module.root(), [&](OpId op) { ops.push_back(op); });
  std::sort(ops.begin(), ops.end());
  for (const OpId op : ops) Link(op);
  shard_.assign(nodes, false);
  for (const OpId op : ops) FollowDevice(op);
  for (const OpId op : ops) Seed(op);
}

bool ShardDimensions::Is(ValueId value, size_t dimension) const { return shard_[Find(Node(value, dimension))]; }

size_t ShardDimensions::Find(size_t node) const {
  while (parent_[node] != node) node = parent_[node] = parent_[parent_[node]];
  return node;
}

void ShardDimensions::Join(ValueId a, size_t da, ValueId b, size_t db) {
  if (da < Rank(a) && db < Rank(b)) parent_[Find(Node(a, da))] = Find(Node(b, db));
}

void ShardDimensions::JoinAll(ValueId a, ValueId b, int64_t but) {
  if (Rank(a) != Rank(b)) return;
  for (size_t d = 0; d < Rank(a); ++d) {
    if (static_cast<int64_t>(d) != but) Join(a, d, b, d);
  }
}

void ShardDimensions::JoinEqual(ValueId a, ValueId b) {
  if (Rank(a) != Rank(b)) return;
  for (size_t d = 0; d < Rank(a); ++d) {
    if (Size(a, d) == Size(b, d)) Join(a, d, b, d);
  }
}

void ShardDimensions::JoinLists(const std::vector<ValueId>& a, const std::vector<ValueId>& b) {
  for (size_t i = 0; i < std::min(a.size(), b.size()); ++i) JoinAll(a[i], b[i]);
}

std::vector<ValueId> ShardDimensions::Returned(ir::BlockId block) const {
  if (!block.valid() || module_.block(block).ops.empty()) return {};
  return List(module_.operands(module_.block(block).ops.back()));
}

void ShardDimensions::Link(OpId op) {
  const OpKind kind = module_.kind(op);
  const auto operands = module_.operands(op);
  if (kind == OpKind::kAllGather) return LinkPairs(op, ir::IntegerAttribute(module_, op, "all_gather_dim").value_or(0));
  if (kind == OpKind::kReduceScatter) {
    return LinkPairs(op, ir::IntegerAttribute(module_, op, "scatter_dimension").value_or(0));
  }
  if (kind == OpKind::kDotGeneral || kind == OpKind::kDot) return LinkDot(op);
  if (kind == OpKind::kReduce) return LinkReduce(op);
  if (kind == OpKind::kWhile || kind == OpKind::kIf || kind == OpKind::kCase || kind == OpKind::kFusion) {
    return LinkBodies(op);
  }
  if (kind == OpKind::kFuncCall) return LinkCall(op);
  if (operands.empty() || module_.results(op).empty()) return;
  const ValueId in = operands[0];
  const ValueId out = module_.result(op);
  if (kind == OpKind::kReshape || kind == OpKind::kBitcast) return LinkReshape(in, out);
  if (kind == OpKind::kTranspose) {
    const auto order = ir::IntegersAttribute(module_, op, "permutation").value_or(ir::Dimensions());
    for (size_t d = 0; d < order.size(); ++d) Join(out, d, in, static_cast<size_t>(order[d]));
  } else if (kind == OpKind::kBroadcastInDim) {
    const auto places = ir::IntegersAttribute(module_, op, "broadcast_dimensions").value_or(ir::Dimensions());
    for (size_t d = 0; d < std::min(places.size(), Rank(in)); ++d) {
      const auto place = static_cast<size_t>(places[d]);
      if (place < Rank(out) && Size(in, d) == Size(out, place)) Join(in, d, out, place);
    }
  } else if (kind == OpKind::kSlice || kind == OpKind::kDynamicSlice || kind == OpKind::kPad) {
    JoinEqual(in, out);
  } else if (kind == OpKind::kDynamicUpdateSlice) {
    JoinAll(in, out);
    JoinEqual(operands[1], out);
  } else if (kind == OpKind::kConcatenate) {
    const int64_t along = ir::IntegerAttribute(module_, op, "dimension").value_or(0);
    for (const ValueId part : operands) JoinAll(part, out, along);
  } else if (ir::Traits(kind).sort == OpSort::kElementwise || kind == OpKind::kCustomCall) {
    LinkElementwise(op);
  } else if (kind == OpKind::kAllReduce || kind == OpKind::kOptimizationBarrier || kind == OpKind::kSort ||
             kind == OpKind::kCopy || kind == OpKind::kReverse || kind == OpKind::kCollectiveBroadcast) {
    LinkPairs(op);
  }
}

void ShardDimensions::LinkPairs(OpId op, int64_t but) {
  const auto operands = module_.operands(op);
  for (size_t i = 0; i < std::min<size_t>(operands.size(), module_.op(op).result_count); ++i) {
    JoinAll(operands[i], module_.result(op, i), but);
  }
}

void ShardDimensions::LinkElementwise(OpId op) {
  const ValueId out = module_.result(op);
  for (const ValueId in : module_.operands(op)) {
    if (module_.type(in).dims == module_.type(out).dims) JoinAll(in, out);
  }
}

void ShardDimensions::LinkDot(OpId op) {
  const auto dims = ir::DotDimensionsOf(module_, op);
  if (!dims || module_.op(op).operand_count < 2) return;
  const ValueId lhs = module_.operands(op)[0];
  const ValueId rhs = module_.operands(op)[1];
  const ValueId out = module_.result(op);
  for (size_t i = 0; i < dims->lhs_contracting.size(); ++i) {
    Join(lhs, static_cast<size_t>(dims->lhs_contracting[i]), rhs, static_cast<size_t>(dims->rhs_contracting[i]));
  }
  size_t next = 0;
  for (size_t i = 0; i < dims->lhs_batching.size(); ++i, ++next) {
    Join(lhs, static_cast<size_t>(dims->lhs_batching[i]), out, next);
    Join(rhs, static_cast<size_t>(dims->rhs_batching[i]), out, next);
  }
  const auto free = [&](ValueId side, const ir::Dimensions& batching, const ir::Dimensions& contracting) {
    for (size_t d = 0; d < Rank(side); ++d) {
      const auto is = [&](const ir::Dimensions& list) {
        return std::find(list.begin(), list.end(), static_cast<int64_t>(d)) != list.end();
      };
      if (!is(batching) && !is(contracting)) Join(side, d, out, next++);
    }
  };
  free(lhs, dims->lhs_batching, dims->lhs_contracting);
  free(rhs, dims->rhs_batching, dims->rhs_contracting);
}

void ShardDimensions::LinkReduce(OpId op) {
  const auto gone = ir::IntegersAttribute(module_, op, "dimensions").value_or(ir::Dimensions());
  const auto operands = module_.operands(op);
  for (size_t i = 0; i < module_.op(op).result_count && i < operands.size(); ++i) {
    size_t next = 0;
    for (size_t d = 0; d < Rank(operands[i]); ++d) {
      if (i > 0) Join(operands[i], d, operands[0], d);
      if (std::find(gone.begin(), gone.end(), static_cast<int64_t>(d)) != gone.end()) continue;
      Join(operands[i], d, module_.result(op, i), next++);
    }
  }
}

// Runs of dimensions of equal product belong together; of a run the outermost dimension that is not 1 is cut.
void ShardDimensions::LinkReshape(ValueId from, ValueId to) {
  size_t a = 0;
  size_t b = 0;
  while (a < Rank(from) && b < Rank(to)) {
    if (Size(from, a) == 1 && Size(to, b) != 1) {
      ++a;
      continue;
    }
    if (Size(to, b) == 1 && Size(from, a) != 1) {
      ++b;
      continue;
    }
    Join(from, a, to, b);
    int64_t left = Size(from, a++);
    int64_t right = Size(to, b++);
    while (left != right) {
      if (left < right && a < Rank(from)) {
        left *= Size(from, a++);
      } else if (right < left && b < Rank(to)) {
        right *= Size(to, b++);
      } else {
        return;
      }
    }
  }
}

void ShardDimensions::LinkBodies(OpId op) {
  const std::vector<ValueId> in = List(module_.operands(op));
  const std::vector<ValueId> out = List(module_.results(op));
  const bool loop = module_.kind(op) == OpKind::kWhile;
  size_t index = 0;
  for (const ir::RegionId region : module_.regions(op)) {
    const ir::BlockId block = module_.region(region).first_block;
    const bool test = loop && index++ == 0;
    if (!block.valid()) continue;
    if (loop || module_.kind(op) == OpKind::kFusion) JoinLists(in, List(module_.arguments(block)));
    if (!test) JoinLists(Returned(block), out);
  }
  if (loop) JoinLists(in, out);
}

void ShardDimensions::LinkCall(OpId op) {
  const std::string_view* callee = module_.attribute(op, "callee");
  const OpId function = callee == nullptr ? OpId() : module_.FindSymbol(ir::AsSymbol(*callee));
  if (!function.valid() || !module_.body(function).valid()) return;
  const ir::BlockId body = module_.body(function);
  JoinLists(List(module_.operands(op)), List(module_.arguments(body)));
  JoinLists(Returned(body), List(module_.results(op)));
}

// What device runs an op shows in small values only: offsets, and tables of them.
void ShardDimensions::FollowDevice(OpId op) {
  const auto operands = module_.operands(op);
  const bool found = DependsOnDevice(module_.kind(op)) ||
                     std::any_of(operands.begin(), operands.end(), [&](ValueId v) { return of_device_[v.index()]; });
  if (!found) return;
  for (const ValueId result : module_.results(op)) {
    if (module_.type(result).element_count() == 1) of_device_[result.index()] = true;
  }
  const OpId table = module_.kind(op) == OpKind::kDynamicSlice ? module_.defining_op(operands[0]) : OpId();
  const bool one = Rank(module_.result(op)) == 1 && Size(module_.result(op), 0) == 1;
  if (!one || !table.valid() || module_.kind(table) != OpKind::kConstant) return;
  if (std::find(tables_.begin(), tables_.end(), table) == tables_.end()) tables_.push_back(table);
}

void ShardDimensions::Mark(ValueId value, size_t dimension) {
  if (dimension < Rank(value)) shard_[Find(Node(value, dimension))] = true;
}

void ShardDimensions::Seed(OpId op) {
  const OpKind kind = module_.kind(op);
  const auto operands = module_.operands(op);
  if (kind == OpKind::kAllGather && over_data_(op)) {
    const auto along = static_cast<size_t>(ir::IntegerAttribute(module_, op, "all_gather_dim").value_or(0));
    for (const ValueId in : operands) Mark(in, along);
  } else if (kind == OpKind::kReduceScatter && over_data_(op)) {
    const auto along = static_cast<size_t>(ir::IntegerAttribute(module_, op, "scatter_dimension").value_or(0));
    for (const ValueId out : module_.results(op)) Mark(out, along);
  } else if (kind == OpKind::kDynamicSlice && !operands.empty()) {
    SeedSlice(op, module_.result(op), operands[0], 1);
  } else if (kind == OpKind::kDynamicUpdateSlice && operands.size() > 1) {
    SeedSlice(op, operands[1], operands[0], 2);
  }
}

void ShardDimensions::SeedSlice(OpId op, ValueId part, ValueId whole, size_t first_index) {
  const auto operands = module_.operands(op);
  const OpId producer = module_.defining_op(whole);
  if (producer.valid() && module_.kind(producer) == OpKind::kConstant) return;  // a table
  for (size_t d = 0; d < Rank(part) && first_index + d < operands.size(); ++d) {
    const bool cut = Size(part, d) * devices_ == Size(whole, d);
    if (cut && of_device_[operands[first_index + d].index()]) Mark(part, d);
  }
}

}  // namespace hespas::transform
