// Transposes move down through elementwise ops and reductions, so that these run in the order in which dots and
// collectives leave their results (what XLA gets from layout assignment: there the transpose is a bitcast).
//
// What remains are transposes in front of results, of batched dots, and of other operands of such elementwise ops.
#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <span>

#include "ir/attributes/op_attributes.h"
#include "optimise/dataflow/build.h"
#include "optimise/dataflow/pass.h"
#include "optimise/fusion/kernels.h"

namespace hespas::optimise {
namespace {

using ir::OpKind;

// A value seen as its base with dimensions in another order; unit dimensions do not count.
struct Turned {
  ValueId base;
  // Of the base's dimensions that are not 1: where each stands in the value, among those not 1; empty where no
  // transpose was met.
  Dimensions order;
  bool moved = false;
};

class Sinker {
 public:
  explicit Sinker(Dataflow& flow) : flow_(flow), free_(flow.node_count(), 0) {}

  void Run() {
    const std::vector<NodeId> order = flow_.order();
    FindAnchors();
    FindFree();
    FindFromParameters();
    for (const NodeId id : order) {
      for (ValueId& operand : flow_.node(id).operands) operand = flow_.Resolve(operand);
      const Node& node = flow_.node(id);
      if (node.result_count != 1 || node.capture_count != 0 || !node.bodies.empty()) continue;
      if (node.kind == OpKind::kReduce && node.operands.size() == 2) {
        SinkReduce(id);
      } else if (node.kind == OpKind::kReshape) {
        SinkReshape(id);
      } else if (Rearranged(node) > 0) {
        SinkRearrangement(id);
      } else if (ir::Traits(node.kind).sort == ir::OpSort::kElementwise || IsPlainAllReduce(node)) {
        SinkElementwise(id);
      }
    }
    flow_.Normalise();
  }

 private:
  static Dimensions NonUnits(const Dimensions& dims) {
    Dimensions out;
    for (size_t i = 0; i < dims.size(); ++i) {
      if (dims[i] != 1) out.push_back(static_cast<int64_t>(i));
    }
    return out;
  }

  // The sum over devices does not care for the order of elements.
  static bool IsPlainAllReduce(const Node& node) {
    return node.kind == OpKind::kAllReduce && node.operands.size() == 1;
  }

  // Looks through reshapes of unit dimensions and transposes.
  Turned See(ValueId value) const {
    Turned seen{value, {}, false};
    for (int step = 0; step < 8; ++step) {
      const Node* producer = flow_.ProducerNode(seen.base);
      if (producer == nullptr) break;
      const ValueId input = producer->operands.empty() ? ValueId() : producer->operands[0];
      if (producer->kind == OpKind::kReshape) {
        if (!EqualWithoutUnits(flow_.type(input).dims, flow_.type(seen.base).dims)) break;
      } else if (producer->kind == OpKind::kTranspose) {
        const auto permutation = IntegersOf(flow_, *producer, "permutation");
        const Dimensions& from = flow_.type(input).dims;
        if (!permutation || permutation->size() != from.size()) break;
        const Dimensions places = NonUnits(from);
        for (size_t i = seen.order.size(); i < places.size(); ++i) seen.order.push_back(static_cast<int64_t>(i));
        Dimensions order(places.size());
        size_t at = 0;
        for (const int64_t p : *permutation) {
          if (from[static_cast<size_t>(p)] == 1) continue;
          const auto place = std::find(places.begin(), places.end(), p) - places.begin();
          order[static_cast<size_t>(place)] = seen.order[at++];
        }
        seen.order = std::move(order);
        seen.moved = !std::is_sorted(seen.order.begin(), seen.order.end());
      } else {
        break;
      }
      seen.base = input;
    }
    return seen;
  }

  // The first op with an order of its own that a value comes from. XLA's layout assignment goes through these one after
  // the other, and follows each as far as it can. Plain matmuls come last: nothing binds them
  // (AddDotBackendConstraints).
  void FindAnchors() {
    anchor_.assign(flow_.node_count(), kNoAnchor);
    for (size_t i = 0; i < flow_.order().size(); ++i) {
      const Node& node = flow_.node(flow_.order()[i]);
      size_t& mine = anchor_[flow_.order()[i].index()];
      const ir::OpSort sort = ir::Traits(node.kind).sort;
      const bool passes = sort == ir::OpSort::kElementwise || sort == ir::OpSort::kLayout ||
                          sort == ir::OpSort::kSlice || sort == ir::OpSort::kReduction || sort == ir::OpSort::kConstant;
      if (!passes) {
        const bool bound = !IsPlainDot(node) && node.kind != OpKind::kOptimizationBarrier;
        mine = bound ? i : flow_.order().size() + i;
        continue;
      }
      // A broadcast follows its consumers.
      if (node.kind == OpKind::kBroadcastInDim) continue;
      for (const ValueId operand : node.operands) mine = std::min(mine, AnchorOf(operand));
    }
  }

  bool IsPlainDot(const Node& node) const {
    if (node.kind != OpKind::kDotGeneral || !node.origin.valid()) return false;
    const auto dimensions = ir::DotDimensionsOf(flow_.source(), node.origin);
    return dimensions && dimensions->lhs_batching.empty();
  }

  size_t AnchorOf(ValueId value) const {
    const NodeId producer = flow_.producer(value);
    return producer.valid() && producer.index() < anchor_.size() ? anchor_[producer.index()] : kNoAnchor;
  }

  void FindFromParameters() {
    from_parameters_.assign(flow_.node_count(), 0);
    for (const NodeId id : flow_.order()) from_parameters_[id.index()] = IsFromParameters(flow_.node(id)) ? 1 : 0;
  }

  // Values that come straight from a dot, by elementwise ops nobody else reads: the dot can leave them in any order.
  void FindFree() {
    const auto users = flow_.Users();
    for (const NodeId id : flow_.order()) {
      const Node& node = flow_.node(id);
      if (node.result_count != 1 || users[node.first_result.index()].size() != 1) continue;
      if (ir::Traits(node.kind).sort == ir::OpSort::kContraction) {
        free_[id.index()] = node.kind == OpKind::kDotGeneral ? 1 : 0;
      } else if (ir::Traits(node.kind).sort == ir::OpSort::kElementwise && node.capture_count == 0) {
        free_[id.index()] = IsFreeElementwise(node) ? 1 : 0;
      }
    }
  }

  bool IsFreeElementwise(const Node& node) const {
    bool has_dot = false;
    for (const ValueId operand : node.operands) {
      if (flow_.type(operand).dims != flow_.type(node.first_result).dims) return false;
      has_dot = has_dot || IsFree(operand);
      if (!IsFree(operand) && !FeedsBroadcast(operand)) return false;
    }
    return has_dot;
  }

  bool IsFree(ValueId value) const {
    const NodeId producer = flow_.producer(value);
    return producer.valid() && producer.index() < free_.size() && free_[producer.index()] != 0;
  }

  // Only values that an op makes carry their order on; parameters are transposed where they are read.
  bool Leads(const Turned& transposed) const { return transposed.moved && flow_.producer(transposed.base).valid(); }

  // A matmul whose rows and columns its only consumer swaps: its operands change places instead (canonical dots).
  bool IsTakenIn(ValueId value) const {
    const Node* consumer = flow_.ProducerNode(value);
    if (consumer == nullptr || consumer->kind != OpKind::kTranspose || !IsFree(consumer->operands[0])) return false;
    const Node* dot = flow_.ProducerNode(consumer->operands[0]);
    return flow_.type(value).dims.size() == 2 && IsPlainDot(*dot);
  }

  // The operand that decides on the order: the one of the earliest anchor, unless a matmul can leave it in any order.
  // Nothing where it has its own order, or comes from parameters.
  std::optional<ValueId> Leader(std::span<const ValueId> operands) const {
    std::optional<ValueId> leader;
    size_t first = kNoAnchor;
    for (const ValueId operand : operands) {
      if (FeedsBroadcast(operand)) continue;
      const Turned seen = See(operand);
      const bool leads = Leads(seen) && !IsTakenIn(operand);
      const bool stays =
          !seen.moved && flow_.producer(seen.base).valid() && !IsParameterLike(seen.base) && !IsFree(operand);
      if ((!leads && !stays) || AnchorOf(seen.base) >= first) continue;
      first = AnchorOf(seen.base);
      leader = leads ? std::optional(operand) : std::nullopt;
    }
    return leader;
  }

  void SinkElementwise(NodeId id) {
    const ValueId result = flow_.result(id);
    const Dimensions dims = flow_.type(result).dims;
    for (const ValueId operand : flow_.node(id).operands) {
      if (flow_.type(operand).dims != dims) return;
    }
    const auto found = Leader(flow_.node(id).operands);
    if (!found) return;
    const Turned leader = See(*found);
    const Dimensions permutation = PermutationTo(dims, leader.order);
    const Dimensions transposed = Permuted(result, permutation);
    Node made = flow_.Copy(id);
    for (ValueId& operand : made.operands) operand = Transposed(operand, permutation, transposed);
    ReplaceByTurned(id, std::move(made), permutation);
  }

  // `made` computes the op's result with its dimensions permuted.
  void ReplaceByTurned(NodeId id, Node made, const Dimensions& permutation) {
    const ValueId result = flow_.result(id);
    const std::vector<ir::TypeId> types{
        TensorLike(flow_.source(), flow_.type_id(result), Permuted(result, permutation))};
    const NodeId inner = flow_.Add(std::move(made), types);
    KeepAnchor(inner, id);
    flow_.Replace(result, Transpose(flow_, flow_.result(inner), Inverse(permutation)));
  }

  void KeepAnchor(NodeId made, NodeId before) {
    anchor_.resize(flow_.node_count(), kNoAnchor);
    anchor_[made.index()] = anchor_[before.index()];
  }

  // A value computed from parameters alone has no order of its own to defend.
  bool IsParameterLike(ValueId value) const {
    const NodeId producer = flow_.producer(value);
    return !producer.valid() || (producer.index() < from_parameters_.size() && from_parameters_[producer.index()] != 0);
  }

  bool IsFromParameters(const Node& node) const {
    if (ir::Traits(node.kind).sort != ir::OpSort::kElementwise || node.result_count != 1) return false;
    return std::all_of(node.operands.begin(), node.operands.end(),
                       [&](ValueId operand) { return FeedsBroadcast(operand) || IsParameterLike(operand); });
  }

  bool FeedsBroadcast(ValueId value) const {
    const Node* producer = flow_.ProducerNode(value);
    return producer != nullptr && (producer->kind == OpKind::kBroadcastInDim || producer->kind == OpKind::kConstant);
  }

  // Which dimension of the value comes at each place once it is in its base's order.
  static Dimensions PermutationTo(const Dimensions& dims, const Dimensions& order) {
    const Dimensions places = NonUnits(dims);
    Dimensions permutation;
    size_t next = 0;
    for (size_t i = 0; i < dims.size(); ++i) {
      permutation.push_back(dims[i] == 1 ? static_cast<int64_t>(i) : places[static_cast<size_t>(order[next++])]);
    }
    return permutation;
  }

  ValueId Transposed(ValueId operand, const Dimensions& permutation, const Dimensions& transposed) {
    const auto [found, is_new] = transposed_.try_emplace({operand, permutation}, ValueId());
    if (!is_new) return found->second;
    ValueId made;
    const Turned seen = See(operand);
    if (seen.moved && EqualWithoutUnits(flow_.type(seen.base).dims, transposed) &&
        PermutationTo(flow_.type(operand).dims, seen.order) == permutation) {
      made = Reshape(flow_, seen.base, transposed);
    } else {
      made = TransposeBroadcast(operand, permutation, transposed);
    }
    if (!made.valid() && IsFree(operand)) made = TransposeFree(operand, permutation, transposed);
    if (!made.valid()) made = Transpose(flow_, operand, permutation);
    transposed_[{operand, permutation}] = made;
    return made;
  }

  // The elementwise ops above are done in the new order; the transpose stands after the dot, which takes it in.
  ValueId TransposeFree(ValueId value, const Dimensions& permutation, const Dimensions& transposed) {
    const NodeId id = flow_.producer(value);
    if (flow_.node(id).kind == OpKind::kDotGeneral) return ValueId();
    Node made = flow_.Copy(id);
    for (ValueId& operand : made.operands) operand = Transposed(operand, permutation, transposed);
    const std::vector<ir::TypeId> types{TensorLike(flow_.source(), flow_.type_id(value), transposed)};
    return flow_.result(flow_.Add(std::move(made), types));
  }

  ValueId TransposeBroadcast(ValueId operand, const Dimensions& permutation, const Dimensions& transposed) {
    const Node* producer = flow_.ProducerNode(operand);
    if (producer == nullptr || producer->kind != OpKind::kBroadcastInDim) return ValueId();
    auto dims = IntegersOf(flow_, *producer, "broadcast_dimensions");
    if (!dims) return ValueId();
    const Dimensions inverse = Inverse(permutation);
    for (int64_t& d : *dims) d = inverse[static_cast<size_t>(d)];
    ValueId input = producer->operands[0];
    // Sorted dimensions keep the broadcast a plain repetition.
    if (!std::is_sorted(dims->begin(), dims->end())) {
      Dimensions by_place(dims->size());
      for (size_t i = 0; i < by_place.size(); ++i) by_place[i] = static_cast<int64_t>(i);
      std::sort(by_place.begin(), by_place.end(), [&](int64_t a, int64_t b) {
        return (*dims)[static_cast<size_t>(a)] < (*dims)[static_cast<size_t>(b)];
      });
      input = Transpose(flow_, input, by_place);
      std::sort(dims->begin(), dims->end());
    }
    const ir::OpId origin = flow_.ProducerNode(operand)->origin;
    const ir::TypeId type = TensorLike(flow_.source(), flow_.type_id(operand), transposed);
    return BroadcastInDim(flow_, input, type, *dims, origin);
  }

  // How many of the first operands are arrays whose elements the op moves without a change of dimensions.
  static size_t Rearranged(const Node& node) {
    switch (node.kind) {
      case OpKind::kSlice:
      case OpKind::kPad:
      case OpKind::kReverse:
      case OpKind::kDynamicSlice:
        return 1;
      case OpKind::kDynamicUpdateSlice:
        return 2;
      case OpKind::kConcatenate:
        return node.operands.size();
      default:
        return 0;
    }
  }

  void SinkRearrangement(NodeId id) {
    // What a loop carries is updated in place and has one order for all rounds.
    const Node& node = flow_.node(id);
    if (node.kind == OpKind::kDynamicUpdateSlice && !flow_.producer(node.operands[0]).valid()) return;
    const size_t arrays = Rearranged(flow_.node(id));
    const auto leader = Leader({flow_.node(id).operands.data(), arrays});
    if (!leader) return;
    const Dimensions permutation = PermutationTo(flow_.type(*leader).dims, See(*leader).order);
    Node made = flow_.Copy(id);
    if (!Permute(made, permutation, arrays)) return;
    for (size_t i = 0; i < arrays; ++i)
      made.operands[i] = Transposed(made.operands[i], permutation, Permuted(made.operands[i], permutation));
    ReplaceByTurned(id, std::move(made), permutation);
  }

  Dimensions Permuted(ValueId value, const Dimensions& permutation) const {
    Dimensions out;
    for (const int64_t p : permutation) out.push_back(flow_.type(value).dims[static_cast<size_t>(p)]);
    return out;
  }

  // Attributes and offsets that go by dimension; false where one of them is not as expected.
  bool Permute(Node& node, const Dimensions& permutation, size_t arrays) {
    const Dimensions inverse = Inverse(permutation);
    for (ir::Attribute& a : node.attributes) {
      const std::string_view name = flow_.source().name(a.name);
      if (name == "dimension") {
        const auto dimension = IntegerOf(flow_, node, "dimension");
        if (!dimension) return false;
        a = MakeAttribute(flow_.source(), "dimension",
                          std::to_string(inverse[static_cast<size_t>(*dimension)]) + " : i64");
        continue;
      }
      auto values = IntegersOf(flow_, node, name);
      if (!values || values->empty()) continue;
      if (name == "dimensions") {
        for (int64_t& d : *values) d = inverse[static_cast<size_t>(d)];
      } else if (values->size() == permutation.size()) {
        const Dimensions before = *values;
        for (size_t i = 0; i < before.size(); ++i) (*values)[i] = before[static_cast<size_t>(permutation[i])];
      } else {
        return false;
      }
      a = MakeAttribute(flow_.source(), std::string(name), ArrayText(*values));
    }
    if (node.kind != OpKind::kDynamicSlice && node.kind != OpKind::kDynamicUpdateSlice) return true;
    if (node.operands.size() != arrays + permutation.size()) return false;
    const std::vector<ValueId> before = node.operands;
    for (size_t i = 0; i < permutation.size(); ++i)
      node.operands[arrays + i] = before[arrays + static_cast<size_t>(permutation[i])];
    return true;
  }

  // Dimensions that a reshape divides, or puts together where they are neighbours in the base, too.
  void SinkReshape(NodeId id) {
    const ValueId input = flow_.node(id).operands[0];
    const Turned seen = See(input);
    if (!Leads(seen) || IsTakenIn(input)) return;
    const ValueId result = flow_.result(id);
    const Dimensions from = WithoutUnits(flow_.type(input).dims);
    const Dimensions to = WithoutUnits(flow_.type(result).dims);
    if (from == to) return;
    Dimensions place(from.size());  // in the base, by dimension of the input
    for (size_t i = 0; i < seen.order.size(); ++i) place[static_cast<size_t>(seen.order[i])] = static_cast<int64_t>(i);
    const std::vector<Stretch> stretches = StretchesOf(from, to);
    std::map<int64_t, const Stretch*> in_base;  // by the first place
    for (const Stretch& stretch : stretches) {
      for (size_t i = stretch.from + 1; i < stretch.from_end; ++i) {
        if (place[i] != place[i - 1] + 1) return;
      }
      if (stretch.from < stretch.from_end) in_base[place[stretch.from]] = &stretch;
    }
    Dimensions dims;
    Dimensions permutation(to.size());
    for (const auto& [first, stretch] : in_base) {
      for (size_t i = stretch->to; i < stretch->to_end; ++i) {
        permutation[i] = static_cast<int64_t>(dims.size());
        dims.push_back(to[i]);
      }
    }
    if (dims.size() != to.size()) return;
    const ValueId reshaped = Reshape(flow_, seen.base, std::move(dims));
    if (flow_.producer(reshaped).valid()) KeepAnchor(flow_.producer(reshaped), id);
    const ValueId turned = Transpose(flow_, reshaped, permutation);
    flow_.Replace(result, ReshapeTo(flow_, turned, flow_.type_id(result)));
  }

  // Dimensions [from, from_end) of one shape and [to, to_end) of another that hold the same elements.
  struct Stretch {
    size_t from = 0, from_end = 0;
    size_t to = 0, to_end = 0;
  };

  // The shortest ones; both shapes are without unit dimensions and of one size.
  static std::vector<Stretch> StretchesOf(const Dimensions& from, const Dimensions& to) {
    std::vector<Stretch> stretches;
    size_t i = 0;
    size_t j = 0;
    while (i < from.size() && j < to.size()) {
      Stretch stretch{i, i + 1, j, j + 1};
      int64_t a = from[i++];
      int64_t b = to[j++];
      while (a != b && (a < b ? i < from.size() : j < to.size())) {
        if (a < b) {
          a *= from[i++];
        } else {
          b *= to[j++];
        }
      }
      stretch.from_end = i;
      stretch.to_end = j;
      stretches.push_back(stretch);
    }
    return stretches;
  }

  // A reduction reads the base; what stays is put in order behind it.
  void SinkReduce(NodeId id) {
    const ValueId input = flow_.node(id).operands[0];
    const Turned seen = See(input);
    const auto reduced = IntegersOf(flow_, flow_.node(id), "dimensions");
    if (!Leads(seen) || !reduced) return;
    const Dimensions& dims = flow_.type(input).dims;
    const Dimensions places = NonUnits(dims);
    Dimensions base_reduced;
    Dimensions kept;  // where the dimensions that stay stand in the value
    for (size_t i = 0; i < seen.order.size(); ++i) {
      const int64_t dimension = places[static_cast<size_t>(seen.order[i])];
      if (std::find(reduced->begin(), reduced->end(), dimension) != reduced->end()) {
        base_reduced.push_back(static_cast<int64_t>(i));
      } else {
        kept.push_back(seen.order[i]);
      }
    }
    const Dimensions flat = WithoutUnits(flow_.type(seen.base).dims);
    Dimensions out;
    for (size_t i = 0; i < flat.size(); ++i) {
      if (std::find(base_reduced.begin(), base_reduced.end(), static_cast<int64_t>(i)) == base_reduced.end()) {
        out.push_back(flat[i]);
      }
    }
    Node made = flow_.Copy(id);
    made.operands[0] = Reshape(flow_, seen.base, flat);
    for (ir::Attribute& a : made.attributes) {
      if (flow_.source().name(a.name) == "dimensions")
        a = MakeAttribute(flow_.source(), "dimensions", ArrayText(base_reduced));
    }
    const ValueId old = flow_.result(id);
    const std::vector<ir::TypeId> types{TensorLike(flow_.source(), flow_.type_id(old), out)};
    const NodeId inner = flow_.Add(std::move(made), types);
    KeepAnchor(inner, id);
    Dimensions permutation(kept.size());
    std::iota(permutation.begin(), permutation.end(), 0);
    std::sort(permutation.begin(), permutation.end(),
              [&](int64_t a, int64_t b) { return kept[static_cast<size_t>(a)] < kept[static_cast<size_t>(b)]; });
    ValueId result = flow_.result(inner);
    if (!std::is_sorted(kept.begin(), kept.end())) result = Transpose(flow_, result, permutation);
    flow_.Replace(old, ReshapeTo(flow_, result, flow_.type_id(old)));
  }

  static constexpr size_t kNoAnchor = SIZE_MAX;

  Dataflow& flow_;
  std::vector<char> free_;             // by node
  std::vector<size_t> anchor_;         // by node: a place in the program
  std::vector<char> from_parameters_;  // by node: what it computes
  std::map<std::pair<ValueId, Dimensions>, ValueId> transposed_;
};

}  // namespace

void SinkTransposes(Dataflow& flow, PassContext&) { Sinker(flow).Run(); }

}  // namespace hespas::optimise
