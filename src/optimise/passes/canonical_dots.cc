// Dots as matmuls: unit dimensions go, neighbours of one role become one, transposes in front are absorbed.
#include "optimise/passes/canonical_dots.h"

#include <algorithm>
#include <numeric>
#include <unordered_set>

#include "base/units.h"
#include "ir/attributes/attribute.h"
#include "ir/attributes/op_attributes.h"
#include "optimise/dataflow/build.h"
#include "optimise/dataflow/pass.h"
#include "optimise/fusion/policy.h"

namespace hespas::optimise {
namespace {

using ir::OpKind;

enum class Role : uint8_t { kBatch, kContract, kFree, kUnit };

// What a dimension of a dot's operand is for; batch and contracting dimensions carry their place in the dot's lists.
struct Label {
  Role role = Role::kFree;
  int64_t place = 0;
};

// An operand seen through reshapes and transposes that only relabel its dimensions.
struct Operand {
  ValueId value;
  std::vector<Label> labels;
};

std::vector<Label> LabelsOf(const Dimensions& dims, const Dimensions& batch, const Dimensions& contract) {
  std::vector<Label> labels(dims.size());
  int64_t free = 0;
  for (size_t i = 0; i < dims.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    const auto b = std::find(batch.begin(), batch.end(), at);
    const auto c = std::find(contract.begin(), contract.end(), at);
    if (dims[i] == 1) {
      labels[i] = {Role::kUnit, 0};
    } else if (b != batch.end()) {
      labels[i] = {Role::kBatch, b - batch.begin()};
    } else if (c != contract.end()) {
      labels[i] = {Role::kContract, c - contract.begin()};
    } else {
      labels[i] = {Role::kFree, free++};
    }
  }
  return labels;
}

bool FreeInOrder(const std::vector<Label>& labels) {
  int64_t next = 0;
  for (const Label& label : labels) {
    if (label.role == Role::kFree && label.place != next++) return false;
  }
  return true;
}

// The same labels for a shape that differs in unit dimensions only; empty where it differs in more.
std::vector<Label> ThroughReshape(const Dimensions& from, const Dimensions& to, const std::vector<Label>& labels) {
  if (!EqualWithoutUnits(from, to)) return {};
  std::vector<Label> out(from.size(), {Role::kUnit, 0});
  size_t next = 0;
  for (size_t i = 0; i < from.size(); ++i) {
    if (from[i] == 1) continue;
    while (to[next] == 1) ++next;
    out[i] = labels[next++];
  }
  return out;
}

// A run of neighbouring dimensions with one role: one dimension of the collapsed operand.
struct Group {
  Role role;
  int64_t place = 0;  // first of the run
  int64_t size = 1;
};

class Canonicaliser {
 public:
  // Where the compiler orders operands they are batches, rows and columns in this order, one dimension of each role.
  Canonicaliser(Dataflow& flow, const CompilerPolicy& policy)
      : flow_(flow), policy_(policy), in_order_(policy.OrdersDotOperands()), users_(flow.Users()) {
    for (const ValueId out : flow.outputs) returned_.insert(out);
  }

  void Run() {
    const std::vector<NodeId> order = flow_.order();
    for (const NodeId id : order) {
      const Node& node = flow_.node(id);
      const bool dot = node.kind == OpKind::kDotGeneral || node.kind == OpKind::kDot;
      if (dot && node.operands.size() == 2 && node.origin.valid()) Visit(id);
    }
    flow_.Normalise();
  }

 private:
  void Visit(NodeId id) {
    auto dims = CanonicalDimensions(flow_, flow_.node(id));
    if (!dims) dims = ir::DotDimensionsOf(flow_.source(), flow_.node(id).origin);
    if (!dims) return;
    const ValueId result = flow_.result(id);
    for (const ValueId value : {flow_.node(id).operands[0], flow_.node(id).operands[1], result}) {
      if (!flow_.type(value).has_static_shape() || flow_.type(value).element_count() == 0) return;
    }
    Operand lhs = See(flow_.node(id).operands[0], dims->lhs_batching, dims->lhs_contracting);
    Operand rhs = See(flow_.node(id).operands[1], dims->rhs_batching, dims->rhs_contracting);
    std::vector<Group> left = Collapse(lhs);
    std::vector<Group> right = Collapse(rhs);
    MergeRuns(left, right, Role::kContract);
    MergeRuns(left, right, Role::kBatch);
    if (in_order_) {
      PutInOrder(lhs, left, Role::kFree);
      PutInOrder(rhs, right, Role::kContract);
    } else if (policy_.AbsorbsTransposes() && Count(left, Role::kBatch) > 1) {
      // XLA's DotDecomposer puts batches first, and its DotDimensionMerger makes one dimension of them.
      PutInOrder(lhs, left);
      PutInOrder(rhs, right);
      MergeRuns(left, right, Role::kBatch);
    }
    const ValueId transposed = TransposedResult(
        result, dims->lhs_batching.size(),
        flow_.type(flow_.node(id).operands[0]).dims.size() - dims->lhs_batching.size() - dims->lhs_contracting.size());
    if (transposed.valid()) {
      Rewrite(id, transposed, {rhs.value, right}, {lhs.value, left});
    } else {
      Rewrite(id, result, {lhs.value, left}, {rhs.value, right});
    }
  }

  // The dot's only consumer where that is a transpose to batch, right, left: the operands then change places.
  ValueId TransposedResult(ValueId result, size_t batch, size_t left) const {
    if (users_[result.index()].size() != 1 || returned_.count(result) > 0) return ValueId();
    const Node& consumer = flow_.node(users_[result.index()][0]);
    const auto permutation = IntegersOf(flow_, consumer, "permutation");
    const Dimensions& dims = flow_.type(result).dims;
    if (consumer.kind != OpKind::kTranspose || !permutation || permutation->size() != dims.size()) return ValueId();
    Dimensions wanted;
    for (size_t i = 0; i < batch; ++i) wanted.push_back(static_cast<int64_t>(i));
    for (size_t i = batch + left; i < dims.size(); ++i) wanted.push_back(static_cast<int64_t>(i));
    for (size_t i = batch; i < batch + left; ++i) wanted.push_back(static_cast<int64_t>(i));
    const auto is_unit = [&](int64_t d) { return dims[static_cast<size_t>(d)] == 1; };
    Dimensions given = *permutation;
    std::erase_if(wanted, is_unit);
    std::erase_if(given, is_unit);
    return wanted == given ? consumer.first_result : ValueId();
  }

  Operand See(ValueId value, const Dimensions& batch, const Dimensions& contract) const {
    Operand seen{value, LabelsOf(flow_.type(value).dims, batch, contract)};
    for (int step = 0; step < 16; ++step) {
      const Node* producer = flow_.ProducerNode(seen.value);
      if (producer == nullptr || (producer->kind != OpKind::kReshape && producer->kind != OpKind::kTranspose)) break;
      if (producer->kind == OpKind::kTranspose && !policy_.AbsorbsTransposes()) break;
      const Dimensions& from = flow_.type(producer->operands[0]).dims;
      std::vector<Label> labels;
      if (producer->kind == OpKind::kReshape) {
        labels = ThroughReshape(from, flow_.type(seen.value).dims, seen.labels);
      } else if (!batch.empty() && (in_order_ ? !SwapsMatrix(flow_, *producer) : IsComputed(producer->operands[0]))) {
        break;  // batched cuBLAS and cuDNN calls want their operands in order
      } else if (const auto permutation = IntegersOf(flow_, *producer, "permutation")) {
        labels.resize(from.size());
        for (size_t i = 0; i < permutation->size(); ++i)
          labels[static_cast<size_t>((*permutation)[i])] = seen.labels[i];
      }
      if (labels.size() != from.size() || !FreeInOrder(labels)) break;
      seen = {producer->operands[0], std::move(labels)};
    }
    return seen;
  }

  // A value that a kernel makes can be made in any order; what lies in memory is read as it lies.
  bool IsComputed(ValueId value) const {
    const Node* producer = flow_.ProducerNode(value);
    while (producer != nullptr && producer->kind == OpKind::kReshape)
      producer = flow_.ProducerNode(producer->operands[0]);
    return producer != nullptr && ClassOf(flow_, *producer, policy_) == FusionClass::kElement;
  }

  // Unit dimensions go; neighbouring free dimensions become one.
  std::vector<Group> Collapse(const Operand& operand) const {
    const Dimensions& dims = flow_.type(operand.value).dims;
    std::vector<Group> groups;
    for (size_t i = 0; i < dims.size(); ++i) {
      const Label& label = operand.labels[i];
      if (label.role == Role::kUnit) continue;
      if (label.role == Role::kFree && !groups.empty() && groups.back().role == Role::kFree) {
        groups.back().size = internal::SaturatingMultiply(groups.back().size, dims[i]);
      } else {
        groups.push_back({label.role, label.place, dims[i]});
      }
    }
    return groups;
  }

  // Places next to each other in both operands become one.
  static void MergeRuns(std::vector<Group>& left, std::vector<Group>& right, Role role) {
    const auto follows = [&](const std::vector<Group>& groups, size_t i) {
      return groups[i].role == role && groups[i + 1].role == role;
    };
    for (size_t i = 0; i + 1 < left.size();) {
      size_t j = 0;
      while (j + 1 < right.size() &&
             !(follows(right, j) && right[j].place == left[i].place && right[j + 1].place == left[i + 1].place)) {
        ++j;
      }
      if (!follows(left, i) || j + 1 >= right.size()) {
        ++i;
        continue;
      }
      for (auto* side : {&left, &right}) {
        const size_t at = side == &left ? i : j;
        (*side)[at].size *= (*side)[at + 1].size;
        side->erase(side->begin() + static_cast<ptrdiff_t>(at) + 1);
      }
    }
  }

  static size_t Count(const std::vector<Group>& groups, Role role) {
    return static_cast<size_t>(
        std::count_if(groups.begin(), groups.end(), [&](const Group& group) { return group.role == role; }));
  }

  // Batches first; after them, where a role has several dimensions, those of the `first` role before the others.
  void PutInOrder(Operand& operand, std::vector<Group>& groups, std::optional<Role> first = std::nullopt) {
    const size_t batches = Count(groups, Role::kBatch);
    size_t leading = 0;
    while (leading < batches && groups[leading].role == Role::kBatch) ++leading;
    const bool single = Count(groups, Role::kFree) <= 1 && Count(groups, Role::kContract) <= 1;
    if (leading == batches && (single || !first) && BatchesInOrder(groups)) return;
    Dimensions order(groups.size());
    std::iota(order.begin(), order.end(), 0);
    const auto rank = [&](int64_t i) {
      const Group& group = groups[static_cast<size_t>(i)];
      if (group.role == Role::kBatch) return std::pair(0, group.place);
      return first ? std::pair(group.role == *first ? 1 : 2, group.place) : std::pair(1, int64_t{0});
    };
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return rank(a) < rank(b); });
    const std::vector<Group> before = groups;
    groups.clear();
    for (const int64_t i : order) {
      const Group& group = before[static_cast<size_t>(i)];
      if (group.role != Role::kBatch && !groups.empty() && groups.back().role == group.role) {
        groups.back().size *= group.size;
      } else {
        groups.push_back(group);
      }
    }
    operand.value = Transpose(flow_, Reshape(flow_, operand.value, Sizes(before)), order);
  }

  static bool BatchesInOrder(const std::vector<Group>& groups) {
    const std::vector<int64_t> order = Order(groups, Role::kBatch);
    size_t next = 0;
    return std::all_of(groups.begin(), groups.end(),
                       [&](const Group& group) { return group.role != Role::kBatch || group.place == order[next++]; });
  }

  static Dimensions Places(const std::vector<Group>& groups, Role role, const std::vector<int64_t>& order) {
    Dimensions out;
    for (const int64_t place : order) {
      for (size_t i = 0; i < groups.size(); ++i) {
        if (groups[i].role == role && groups[i].place == place) out.push_back(static_cast<int64_t>(i));
      }
    }
    return out;
  }

  static std::vector<int64_t> Order(const std::vector<Group>& groups, Role role) {
    std::vector<int64_t> order;
    for (const Group& group : groups) {
      if (group.role == role) order.push_back(group.place);
    }
    std::sort(order.begin(), order.end());
    return order;
  }

  static Dimensions Sizes(const std::vector<Group>& groups) {
    Dimensions out;
    for (const Group& group : groups) out.push_back(group.size);
    return out;
  }

  struct Side {
    ValueId value;
    const std::vector<Group>& groups;
  };

  // Puts a canonical dot in the place of `result`.
  void Rewrite(NodeId id, ValueId result, const Side& lhs, const Side& rhs) {
    const std::vector<Group>& left = lhs.groups;
    const std::vector<Group>& right = rhs.groups;
    const auto batch = Order(left, Role::kBatch);
    const auto contract = Order(left, Role::kContract);
    const Dimensions lb = Places(left, Role::kBatch, batch);
    const Dimensions rb = Places(right, Role::kBatch, batch);
    const Dimensions lc = Places(left, Role::kContract, contract);
    const Dimensions rc = Places(right, Role::kContract, contract);
    Dimensions out;
    for (const int64_t i : lb) out.push_back(left[static_cast<size_t>(i)].size);
    for (const auto* side : {&left, &right}) {
      for (const Group& group : *side) {
        if (group.role == Role::kFree) out.push_back(group.size);
      }
    }
    if (Product(out) != flow_.type(result).element_count()) return;
    const ValueId a = Reshape(flow_, lhs.value, Sizes(left));
    const ValueId b = Reshape(flow_, rhs.value, Sizes(right));
    const ValueId dot = AddDot(flow_, id, {a, b},
                               {.lhs_batching = lb, .rhs_batching = rb, .lhs_contracting = lc, .rhs_contracting = rc},
                               TensorLike(flow_.source(), flow_.type_id(result), out));
    flow_.Replace(result, ReshapeTo(flow_, dot, flow_.type_id(result)));
  }

  Dataflow& flow_;
  const CompilerPolicy& policy_;
  bool in_order_;
  UserTable users_;
  std::unordered_set<ValueId> returned_;
};

}  // namespace

std::vector<ir::Attribute> PrecisionAttributes(const Dataflow& flow, const Node& node) {
  std::vector<ir::Attribute> kept;
  for (const ir::Attribute& attribute : node.attributes) {
    const std::string_view name = flow.source().name(attribute.name);
    const bool precision = name == "precision_config" || name == "precision";
    if (name == "algorithm" || (precision && attribute.text.find("HIGH") != std::string_view::npos))
      kept.push_back(attribute);
  }
  return kept;
}

ValueId AddDot(Dataflow& flow, NodeId like, const std::array<ValueId, 2>& operands, const ir::DotDimensions& dims,
               ir::TypeId result) {
  std::vector<ir::Attribute> attributes = PrecisionAttributes(flow, flow.node(like));
  attributes.push_back(MakeAttribute(flow.source(), "dot_dimension_numbers", ir::DotDimensionsText(dims)));
  return flow.result(flow.Add({.name = "stablehlo.dot_general",
                               .operands = {operands[0], operands[1]},
                               .results = {result},
                               .attributes = std::move(attributes),
                               .origin = flow.node(like).origin}));
}

std::optional<ir::DotDimensions> CanonicalDimensions(const Dataflow& flow, const Node& node) {
  const std::string_view* text = flow.attribute(node, "dot_dimension_numbers");
  if (text == nullptr) return std::nullopt;
  ir::DotDimensions dims;
  for (const ir::Entry& entry : ir::Entries(*text)) {
    const auto values = ir::AsIntegers(entry.value);
    if (!values) return std::nullopt;
    if (entry.name == "lhs_batching_dimensions") dims.lhs_batching = *values;
    if (entry.name == "rhs_batching_dimensions") dims.rhs_batching = *values;
    if (entry.name == "lhs_contracting_dimensions") dims.lhs_contracting = *values;
    if (entry.name == "rhs_contracting_dimensions") dims.rhs_contracting = *values;
  }
  return dims;
}

bool SwapsMatrix(const Dataflow& flow, const Node& node) {
  if (node.kind != OpKind::kTranspose) return false;
  auto permutation = IntegersOf(flow, node, "permutation");
  if (!permutation || permutation->size() < 2) return false;
  std::swap(permutation->back(), (*permutation)[permutation->size() - 2]);
  return std::is_sorted(permutation->begin(), permutation->end());
}

void CanonicaliseDots(Dataflow& flow, PassContext& context) { Canonicaliser(flow, *context.policy).Run(); }

}  // namespace hespas::optimise
