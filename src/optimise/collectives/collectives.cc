// Rewrites of single collectives before fusion.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "ir/attributes/attribute.h"
#include "ir/attributes/op_attributes.h"
#include "optimise/dataflow/build.h"
#include "optimise/dataflow/pass.h"
#include "optimise/dataflow/reducer.h"

namespace hespas::optimise {
namespace {

using ir::OpKind;

// Evaluates a scalar integer that depends on nothing but the device's number.
class DeviceIndex {
 public:
  explicit DeviceIndex(const Dataflow& flow) : flow_(flow) {}

  std::optional<int64_t> operator()(ValueId value, int64_t device, int depth = 0) const {
    const Node* node = flow_.ProducerNode(value);
    if (node == nullptr || depth > 16) return std::nullopt;
    const auto operand = [&](size_t i) { return (*this)(node->operands[i], device, depth + 1); };
    switch (node->kind) {
      case OpKind::kPartitionId:
      case OpKind::kReplicaId:
        return device;
      case OpKind::kReshape:
      case OpKind::kConvert:
      case OpKind::kCopy:
      case OpKind::kBroadcastInDim:
        return flow_.type(node->operands[0]).element_count() == 1 ? operand(0) : std::nullopt;
      case OpKind::kConstant:
        return Constant(*node, 0);
      case OpKind::kDynamicSlice:
        return Lookup(*node, device, depth);
      case OpKind::kMultiply:
      case OpKind::kAdd:
      case OpKind::kSubtract:
      case OpKind::kDivide:
      case OpKind::kRemainder:
      case OpKind::kMinimum:
      case OpKind::kMaximum:
        return Arithmetic(node->kind, operand(0), operand(1));
      default:
        return std::nullopt;
    }
  }

 private:
  std::optional<int64_t> Constant(const Node& node, int64_t index) const {
    // A table has an offset for each device: it is read once.
    const std::string_view* text = flow_.attribute(node, "value");
    if (text == nullptr) return std::nullopt;
    const auto [known, added] = tables_.try_emplace(text->data());
    if (added) known->second = IntegersOf(flow_, node, "value");
    const auto& values = known->second;
    if (!values || values->empty() || index < 0) return std::nullopt;
    if (values->size() == 1) return (*values)[0];
    return static_cast<size_t>(index) < values->size() ? std::optional((*values)[static_cast<size_t>(index)])
                                                       : std::nullopt;
  }

  // One element of a one-dimensional table.
  std::optional<int64_t> Lookup(const Node& node, int64_t device, int depth) const {
    if (node.operands.size() != 2 || flow_.type(ValueId(node.first_result.index())).element_count() != 1) {
      return std::nullopt;
    }
    const Node* table = flow_.ProducerNode(node.operands[0]);
    const auto index = (*this)(node.operands[1], device, depth + 1);
    if (table == nullptr || table->kind != OpKind::kConstant || !index) return std::nullopt;
    return Constant(*table, *index);
  }

  static std::optional<int64_t> Arithmetic(OpKind kind, std::optional<int64_t> a, std::optional<int64_t> b) {
    if (!a || !b) return std::nullopt;
    int64_t out = 0;
    switch (kind) {
      case OpKind::kMultiply:
        return __builtin_mul_overflow(*a, *b, &out) ? std::nullopt : std::optional(out);
      case OpKind::kAdd:
        return __builtin_add_overflow(*a, *b, &out) ? std::nullopt : std::optional(out);
      case OpKind::kSubtract:
        return __builtin_sub_overflow(*a, *b, &out) ? std::nullopt : std::optional(out);
      case OpKind::kMinimum:
        return std::min(*a, *b);
      case OpKind::kMaximum:
        return std::max(*a, *b);
      default:
        if (*b <= 0 || *a < 0) return std::nullopt;
        return kind == OpKind::kDivide ? *a / *b : *a % *b;
    }
  }

  const Dataflow& flow_;
  mutable std::unordered_map<const char*, std::optional<Dimensions>> tables_;
};

// An all-reduce of which every device keeps its own slice.
class ReduceScatterFormer {
 public:
  explicit ReduceScatterFormer(Dataflow& flow) : flow_(flow), users_(flow.Users()) {
    for (const ValueId out : flow.outputs) returned_.insert({out, true});
  }

  void Run() {
    const std::vector<NodeId> order = flow_.order();
    for (const NodeId id : order) {
      const Node& node = flow_.node(id);
      if (node.kind == OpKind::kAllReduce && node.result_count == 1 && node.own_operand_count() == 1) Visit(id);
    }
    flow_.Normalise();
  }

 private:
  void Visit(NodeId id) {
    const ValueId result = flow_.result(id);
    const auto& users = users_[result.index()];
    if (users.size() != 1 || returned_.count(result) > 0) return;
    const Node& slice = flow_.node(users[0]);
    if (slice.kind != OpKind::kDynamicSlice || slice.operands[0] != result) return;
    const auto groups = GroupsOf(id);
    if (groups.empty() || groups[0].size() < 2) return;
    const auto dimension = ScatteredDimension(slice, groups);
    if (dimension) Rewrite(id, users[0], *dimension);
  }

  std::vector<Dimensions> GroupsOf(NodeId id) const {
    const ir::OpId origin = flow_.node(id).origin;
    if (!origin.valid()) return {};
    const auto groups = ir::ReplicaGroupsOf(flow_.source(), origin);
    return groups ? groups->groups : std::vector<Dimensions>{};
  }

  // The one dimension that is cut into as many equal parts as a group has members, part i going to member i.
  std::optional<size_t> ScatteredDimension(const Node& slice, const std::vector<Dimensions>& groups) const {
    const Dimensions& full = flow_.type(slice.operands[0]).dims;
    const Dimensions& part = flow_.type(slice.first_result).dims;
    std::optional<size_t> cut;
    for (size_t i = 0; i < full.size(); ++i) {
      if (full[i] == part[i]) continue;
      if (cut || full[i] != part[i] * static_cast<int64_t>(groups[0].size())) return std::nullopt;
      cut = i;
    }
    if (!cut || slice.operands.size() != full.size() + 1) return std::nullopt;
    auto& starts = starts_[slice.operands[1 + *cut]];
    for (const Dimensions& group : groups) {
      if (group.size() != groups[0].size()) return std::nullopt;
      for (size_t i = 0; i < group.size(); ++i) {
        const auto [known, added] = starts.try_emplace(group[i]);
        if (added) known->second = index_(slice.operands[1 + *cut], group[i]);
        const auto start = known->second;
        if (!start || *start != static_cast<int64_t>(i) * part[*cut]) return std::nullopt;
      }
    }
    return cut;
  }

  void Rewrite(NodeId id, NodeId slice, size_t dimension) {
    Node made = flow_.Copy(id);
    made.kind = OpKind::kReduceScatter;
    made.name = flow_.source().InternName("stablehlo.reduce_scatter");
    made.attributes.push_back(MakeAttribute(flow_.source(), "scatter_dimension", fmt::format("{} : i64", dimension)));
    const std::vector<ir::TypeId> types{flow_.type_id(flow_.result(slice))};
    const NodeId added = flow_.Add(std::move(made), types);
    flow_.Replace(flow_.result(slice), flow_.result(added));
  }

  Dataflow& flow_;
  UserTable users_;
  DeviceIndex index_{flow_};
  mutable std::unordered_map<ValueId, std::unordered_map<int64_t, std::optional<int64_t>>> starts_;  // by device
  std::unordered_map<ValueId, bool> returned_;
};

// sum(reduce(a), reduce(b)) is reduce(sum(a, b)): one collective instead of two (XLA's reassociation passes).
class Reassociator {
 public:
  explicit Reassociator(Dataflow& flow) : flow_(flow) {
    for (const NodeId id : flow.order()) {
      for (const ValueId operand : flow.node(id).operands) ++uses_[operand];
    }
    for (const ValueId out : flow.outputs) ++uses_[out];
  }

  void Run() {
    const std::vector<NodeId> order = flow_.order();
    for (const NodeId id : order) {
      for (ValueId& operand : flow_.node(id).operands) operand = flow_.Resolve(operand);
      if (flow_.node(id).kind == OpKind::kAdd && flow_.node(id).operands.size() == 2) Visit(id);
    }
    flow_.Normalise();
  }

 private:
  void Visit(NodeId id) {
    const ValueId a = flow_.node(id).operands[0];
    const ValueId b = flow_.node(id).operands[1];
    if (!MayJoin(a) || !MayJoin(b) || a == b || !AreAlike(flow_.producer(a), flow_.producer(b))) return;
    const ValueId x = flow_.ProducerNode(a)->operands[0];
    const ValueId y = flow_.ProducerNode(b)->operands[0];
    const ValueId sum = flow_.result(flow_.Add(
        {.name = "stablehlo.add", .operands = {x, y}, .results = {flow_.type_id(x)}, .origin = flow_.node(id).origin}));
    Node made = flow_.Copy(flow_.producer(a));
    made.operands = {sum};
    const std::vector<ir::TypeId> types{flow_.type_id(a)};
    const ValueId whole = flow_.result(flow_.Add(std::move(made), types));
    uses_[whole] = uses_[flow_.result(id)];
    flow_.Replace(flow_.result(id), whole);
  }

  bool MayJoin(ValueId value) const {
    const Node* producer = flow_.ProducerNode(value);
    if (producer == nullptr || producer->operands.size() != 1 || producer->capture_count > 0 ||
        producer->result_count != 1)
      return false;
    if (producer->kind != OpKind::kAllReduce && producer->kind != OpKind::kReduceScatter) return false;
    const auto uses = uses_.find(value);
    return uses != uses_.end() && uses->second == 1 && Sums(*producer);
  }

  bool Sums(const Node& node) const { return ReducerKind(flow_.source(), node.origin) == OpKind::kAdd; }

  bool AreAlike(NodeId a, NodeId b) const {
    const Node& first = flow_.node(a);
    const Node& second = flow_.node(b);
    if (first.kind != second.kind || flow_.type_id(first.operands[0]) != flow_.type_id(second.operands[0]))
      return false;
    for (const std::string_view name : {"replica_groups", "scatter_dimension", "use_global_device_ids"}) {
      const auto* left = flow_.attribute(first, name);
      const auto* right = flow_.attribute(second, name);
      if ((left == nullptr) != (right == nullptr) || (left != nullptr && *left != *right)) return false;
    }
    return true;
  }

  Dataflow& flow_;
  std::unordered_map<ValueId, size_t> uses_;
};

Dimensions FrontFirst(size_t rank, size_t dimension) {
  Dimensions permutation{static_cast<int64_t>(dimension)};
  for (size_t i = 0; i < rank; ++i) {
    if (i != dimension) permutation.push_back(static_cast<int64_t>(i));
  }
  return permutation;
}

// The first dimension that is not 1 is as good as the first.
bool IsMajor(const Dimensions& dims, int64_t dimension) {
  for (int64_t i = 0; i < dimension; ++i) {
    if (dims[static_cast<size_t>(i)] != 1) return false;
  }
  return true;
}

}  // namespace

void ReassociateCollectives(Dataflow& flow, PassContext&) { Reassociator(flow).Run(); }

void FormReduceScatters(Dataflow& flow, PassContext&) { ReduceScatterFormer(flow).Run(); }

// all-reduce or reduce-scatter, then convert to a narrower type: converted first, as XLA does on TPUs; the sum is
// rounded in between.
void NarrowAllReduces(Dataflow& flow, PassContext&) {
  const auto users = flow.Users();
  const std::vector<NodeId> order = flow.order();
  for (const NodeId id : order) {
    const Node& node = flow.node(id);
    if (node.kind != OpKind::kConvert || node.operands.size() != 1) continue;
    const ValueId sum = node.operands[0];
    const Node* reduce = flow.ProducerNode(sum);
    const bool reduces =
        reduce != nullptr && (reduce->kind == OpKind::kAllReduce || reduce->kind == OpKind::kReduceScatter);
    if (!reduces || reduce->operands.size() != 1) continue;
    const bool returned = std::find(flow.outputs.begin(), flow.outputs.end(), sum) != flow.outputs.end();
    if (users[sum.index()].size() != 1 || returned || reduce->capture_count > 0) continue;
    if (flow.ByteSize(flow.result(id)) >= flow.ByteSize(sum)) continue;
    const ir::TypeId narrow = flow.type_id(flow.result(id));
    const ir::OpId reducer = ReducerFor(flow.source(), reduce->origin, narrow);
    if (!reducer.valid()) continue;
    Node made = flow.Copy(flow.producer(sum));
    made.origin = reducer;
    const ValueId input = reduce->operands[0];
    const ir::OpId origin = node.origin;
    const ir::TypeId whole = TensorLike(flow.source(), narrow, flow.type(input).dims);
    made.operands = {flow.result(
        flow.Add({.name = "stablehlo.convert", .operands = {input}, .results = {whole}, .origin = origin}))};
    const std::vector<ir::TypeId> types{narrow};
    flow.Replace(flow.result(id), flow.result(flow.Add(std::move(made), types)));
  }
  flow.Normalise();
}

// Gathering or scattering the outermost dimension moves whole runs of memory; XLA's layouts see to that.
void MoveCollectiveDimension(Dataflow& flow, PassContext&) {
  const std::vector<NodeId> order = flow.order();
  for (const NodeId id : order) {
    const bool gather = flow.node(id).kind == OpKind::kAllGather;
    if (!gather && flow.node(id).kind != OpKind::kReduceScatter) continue;
    const std::string_view name = gather ? "all_gather_dim" : "scatter_dimension";
    const auto dimension = IntegerOf(flow, flow.node(id), name);
    if (flow.node(id).result_count != 1 || flow.node(id).own_operand_count() != 1 || !dimension) continue;
    const ValueId input = flow.node(id).operands[0];
    const ValueId old = flow.result(id);
    const Dimensions dims = flow.type(input).dims;
    if (*dimension < 0 || static_cast<size_t>(*dimension) >= dims.size() || IsMajor(dims, *dimension)) continue;
    const Dimensions permutation = FrontFirst(dims.size(), static_cast<size_t>(*dimension));
    Node moved = flow.Copy(id);
    SetAttribute(flow.source(), moved, name, "0 : i64");
    moved.operands[0] = Transpose(flow, input, permutation);
    Dimensions result;
    for (const int64_t p : permutation) result.push_back(flow.type(old).dims[static_cast<size_t>(p)]);
    const std::vector<ir::TypeId> types{TensorLike(flow.source(), flow.type_id(old), std::move(result))};
    const ValueId made = flow.result(flow.Add(std::move(moved), types));
    flow.Replace(old, Transpose(flow, made, Inverse(permutation)));
  }
  flow.Normalise();
}

}  // namespace hespas::optimise
