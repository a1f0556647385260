// Sorts as XLA's GPU compiler writes them (XLA of jaxlib 0.7.2):
//
// - Top-k without a kernel of its own is a sort beside its indices, of which the first k stay (TopkDecomposer).
// - A stable sort carries the place of each element along, to tell equal ones apart (StableSortExpander).
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "optimise/dataflow/build.h"
#include "optimise/dataflow/pass.h"
#include "optimise/dataflow/reducer.h"

namespace hespas::optimise {
namespace {

using ir::OpKind;

class SortExpander {
 public:
  explicit SortExpander(Dataflow& flow) : flow_(flow), source_(flow.source()) {}

  void Visit(NodeId id) {
    const Node& node = flow_.node(id);
    if (node.operands.empty() || node.capture_count != 0) return;
    const ir::Type& type = flow_.type(node.operands[0]);
    if (!type.has_static_shape() || type.dims.empty()) return;
    if (node.kind == OpKind::kSort) return AddPlaces(id);
    if (node.kind == OpKind::kTopK && node.result_count == 2 && !HasTopKKernel(id)) SortForTopK(id);
  }

 private:
  int64_t ResultsOfTopK(NodeId id) const { return flow_.type(flow_.result(id)).dims.back(); }

  // TopkSpecializer: one or two dimensions, at least 1,024 elements of f32 or bf16, of which at most 16 are wanted.
  bool HasTopKKernel(NodeId id) const {
    constexpr int64_t kMostResults = 16;
    constexpr int64_t kLeastElements = 1024;
    const ir::Type& type = flow_.type(flow_.node(id).operands[0]);
    const bool known = type.element.kind == ir::ElementKind::kF32 || type.element.kind == ir::ElementKind::kBF16;
    return known && !type.element.complex && type.dims.size() <= 2 && ResultsOfTopK(id) <= kMostResults &&
           type.dims.back() >= kLeastElements;
  }

  ir::TypeId Indices(ValueId like) const {
    return TensorLike(source_, ScalarType(source_, "i32"), flow_.type(like).dims);
  }

  ValueId Places(ValueId like, int64_t dimension) {
    return flow_.result(
        flow_.Add({.name = "stablehlo.iota",
                   .results = {Indices(like)},
                   .attributes = {MakeAttribute(source_, "iota_dimension", fmt::format("{} : i64", dimension))}}));
  }

  NodeId Sort(const std::vector<ValueId>& operands, int64_t dimension, ir::RegionId order) {
    NodeInit sort{.name = "stablehlo.sort",
                  .operands = operands,
                  .results = {},
                  .attributes = {MakeAttribute(source_, "dimension", fmt::format("{} : i64", dimension)),
                                 MakeAttribute(source_, "is_stable", "false")},
                  .origin = RegionHolder(source_, "stablehlo.sort", order)};
    for (const ValueId operand : sort.operands) sort.results.push_back(flow_.type_id(operand));
    return flow_.Add(std::move(sort));
  }

  void SortForTopK(NodeId id) {
    const ValueId input = flow_.node(id).operands[0];
    const auto last = static_cast<int64_t>(flow_.type(input).dims.size()) - 1;
    const NodeId sort = Sort({input, Places(input, last)}, last, Descending(flow_.type_id(input)));
    const int64_t kept = ResultsOfTopK(id);
    for (const size_t i : {size_t{0}, size_t{1}}) {
      flow_.Replace(flow_.result(id, i), SliceOf(flow_, flow_.result(sort, i), static_cast<size_t>(last), 0, kept));
    }
  }

  void AddPlaces(NodeId id) {
    const std::string_view* stable = flow_.attribute(flow_.node(id), "is_stable");
    auto dimension = IntegerOf(flow_, flow_.node(id), "dimension");
    const auto rank = static_cast<int64_t>(flow_.type(flow_.node(id).operands[0]).dims.size());
    if (dimension && *dimension < 0) *dimension += rank;
    if (dimension && (*dimension < 0 || *dimension >= rank)) return;
    const std::vector<ValueId> given = flow_.node(id).operands;
    if (stable == nullptr || *stable != "true" || !dimension || HasPlaces(given, *dimension)) return;
    const ir::OpId origin = flow_.node(id).origin;
    if (!origin.valid() || !source_.body(origin).valid()) return;
    std::vector<ValueId> operands = given;
    operands.push_back(Places(given[0], *dimension));
    const auto order = OrderWithPlaces(source_.body(origin));
    if (!order) return;
    const NodeId sort = Sort(operands, *dimension, *order);
    for (size_t i = 0; i < given.size(); ++i) flow_.Replace(flow_.result(id, i), flow_.result(sort, i));
  }

  bool HasPlaces(const std::vector<ValueId>& operands, int64_t dimension) const {
    return std::any_of(operands.begin(), operands.end(), [&](ValueId operand) {
      const Node* producer = flow_.ProducerNode(operand);
      return producer != nullptr && producer->kind == OpKind::kIota && flow_.type_id(operand) == Indices(operand) &&
             IntegerOf(flow_, *producer, "iota_dimension") == dimension;
    });
  }

  ir::ValueId Inner(ir::BlockId block, std::string_view name, std::vector<ir::ValueId> operands,
                    std::vector<ir::Attribute> attributes = {}) {
    const std::vector<ir::TypeId> types{ScalarType(source_, "i1")};
    return source_.result(source_.AddOp(
        block,
        {.name = source_.InternName(name), .operands = operands, .result_types = types, .attributes = attributes}));
  }

  ir::Attribute Direction(std::string_view word) {
    return MakeAttribute(source_, "comparison_direction", fmt::format("#stablehlo<comparison_direction {}>", word));
  }

  // Of two elements and their places: in front is the one that `before` says, of equal ones that of the lower place.
  ir::RegionId EndWithPlaces(ir::BlockId block, ir::ValueId before, ir::ValueId after) {
    const size_t count = source_.arguments(block).size();
    const ir::ValueId lower =
        Inner(block, "stablehlo.compare", {source_.arguments(block)[count - 2], source_.arguments(block)[count - 1]},
              {Direction("LT")});
    const ir::ValueId not_after = Inner(block, "stablehlo.not", {after});
    const ir::ValueId decided = Inner(block, "stablehlo.and", {not_after, lower});
    const std::vector<ir::ValueId> results{Inner(block, "stablehlo.or", {before, decided})};
    source_.AddOp(block, {.name = source_.InternName("stablehlo.return"), .operands = results});
    return source_.AddRegion(std::vector<ir::BlockId>{block});
  }

  ir::RegionId Descending(ir::TypeId operand) {
    const ir::TypeId element = TensorLike(source_, operand, {});
    const ir::TypeId place = ScalarType(source_, "i32");
    const ir::BlockId block = source_.AddBlock(std::vector<ir::TypeId>{element, element, place, place});
    const ir::ValueId left = source_.arguments(block)[0];
    const ir::ValueId right = source_.arguments(block)[1];
    const ir::ValueId before = Inner(block, "stablehlo.compare", {left, right}, {Direction("GT")});
    const ir::ValueId after = Inner(block, "stablehlo.compare", {left, right}, {Direction("LT")});
    return EndWithPlaces(block, before, after);
  }

  // The order of `body`, asked both ways. Nothing where an op of it has a region.
  std::optional<ir::RegionId> OrderWithPlaces(ir::BlockId body) {
    std::vector<ir::TypeId> types;
    for (const ir::ValueId argument : source_.arguments(body)) types.push_back(source_.type_id(argument));
    if (types.size() % 2 != 0) return std::nullopt;
    types.insert(types.end(), 2, ScalarType(source_, "i32"));
    const ir::BlockId block = source_.AddBlock(types);
    const ir::ValueId before = CopyOps(body, block, 0);
    const ir::ValueId after = CopyOps(body, block, 1);
    if (!before.valid() || !after.valid()) return std::nullopt;
    return EndWithPlaces(block, before, after);
  }

  // What the body returns for the arguments of `block`, each pair exchanged where `exchanged` is 1; invalid where it
  // cannot be copied.
  ir::ValueId CopyOps(ir::BlockId body, ir::BlockId block, size_t exchanged) {
    std::map<uint32_t, ir::ValueId> copies;
    for (size_t i = 0; i < source_.arguments(body).size(); ++i) {
      copies[source_.arguments(body)[i].value] = source_.arguments(block)[i ^ exchanged];
    }
    const auto copy_of = [&](ir::ValueId value) {
      const auto found = copies.find(value.value);
      return found == copies.end() ? value : found->second;
    };
    const std::vector<ir::OpId> ops(source_.block(body).ops.begin(), source_.block(body).ops.end());
    for (const ir::OpId op : ops) {
      if (!source_.regions(op).empty()) return ir::ValueId();
      std::vector<ir::ValueId> operands;
      for (const ir::ValueId operand : source_.operands(op)) operands.push_back(copy_of(operand));
      if (op == ops.back()) return operands.size() == 1 ? operands[0] : ir::ValueId();
      CopyOp(op, block, operands, copies);
    }
    return ir::ValueId();
  }

  void CopyOp(ir::OpId op, ir::BlockId block, const std::vector<ir::ValueId>& operands,
              std::map<uint32_t, ir::ValueId>& copies) {
    std::vector<ir::ValueId> results;
    std::vector<ir::TypeId> types;
    for (const ir::ValueId result : source_.results(op)) {
      results.push_back(result);
      types.push_back(source_.type_id(result));
    }
    const auto held = source_.attributes(op);
    const std::vector<ir::Attribute> attributes(held.begin(), held.end());
    const ir::OpId copy = source_.AddOp(block, {.name = source_.op(op).name,
                                                .operands = operands,
                                                .result_types = types,
                                                .attributes = attributes,
                                                .source = source_.op(op).source});
    for (size_t i = 0; i < results.size(); ++i) copies[results[i].value] = source_.results(copy)[i];
  }

  Dataflow& flow_;
  ir::Module& source_;
};

}  // namespace

void ExpandSorts(Dataflow& flow, PassContext&) {
  SortExpander expander(flow);
  const std::vector<NodeId> order = flow.order();
  for (const NodeId id : order) expander.Visit(id);
  flow.Normalise();
}

}  // namespace hespas::optimise
