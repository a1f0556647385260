// The gradient of max-pooling on a GPU (XLA's SelectAndScatterExpander): a reduce_window finds where in each window the
// selected element stands, a scatter adds the windows' values there.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <numeric>

#include "optimise/dataflow/build.h"
#include "optimise/dataflow/pass.h"
#include "optimise/dataflow/reducer.h"

namespace hespas::optimise {
namespace {

using ir::OpKind;

class Expander {
 public:
  Expander(Dataflow& flow, NodeId id) : flow_(flow), source_(flow.source()), id_(id) {}

  void Run() {
    const ir::OpId origin = flow_.node(id_).origin;
    if (flow_.node(id_).own_operand_count() != 3 || flow_.node(id_).capture_count != 0 || !origin.valid()) return;
    const auto regions = source_.regions(origin);
    if (regions.size() != 2 || ReducerKind(source_, origin) != OpKind::kCompare) return;
    compare_ = source_.block(source_.body(origin)).ops[0];
    const ir::OpId sum = RegionHolder(source_, "stablehlo.scatter", regions[1]);
    if (ReducerKind(source_, sum) == OpKind::kUnknown) return;
    input_ = flow_.node(id_).operands[0];
    rank_ = flow_.type(input_).dims.size();
    const bool has_window = flow_.attribute(flow_.node(id_), "window_dimensions") != nullptr;
    if (rank_ == 0 || !has_window || !flow_.type(input_).has_static_shape()) return;
    const std::vector<ValueId> places = FindPlaces();
    const ValueId indices = Concatenate(flow_, places, rank_);
    const ValueId values = flow_.node(id_).operands[1];
    flow_.Replace(flow_.result(id_), Scatter(sum, indices, values));
  }

 private:
  ValueId Add(NodeInit init) { return flow_.result(flow_.Add(std::move(init))); }

  ValueId Constant(std::string_view value, ir::TypeId type) {
    return Add({.name = "stablehlo.constant",
                .results = {type},
                .attributes = {MakeAttribute(source_, "value", fmt::format("dense<{}> : tensor<i32>", value))}});
  }

  // By dimension: where the selected element of each window stands, after a new last dimension of one.
  std::vector<ValueId> FindPlaces() {
    const ir::TypeId index = ScalarType(source_, "i32");
    const Dimensions dims = flow_.type(input_).dims;
    const ValueId values = flow_.node(id_).operands[1];
    const Dimensions windows = flow_.type(values).dims;
    NodeInit window{.name = "stablehlo.reduce_window",
                    .operands = {input_},
                    .results = {flow_.type_id(values)},
                    .attributes = flow_.node(id_).attributes,
                    .origin = RegionHolder(source_, "stablehlo.reduce_window", SelectPlace(index))};
    for (size_t d = 0; d < rank_; ++d) {
      window.operands.push_back(
          Add({.name = "stablehlo.iota",
               .results = {TensorLike(source_, index, dims)},
               .attributes = {MakeAttribute(source_, "iota_dimension", fmt::format("{} : i64", d))}}));
      window.results.push_back(TensorLike(source_, index, windows));
    }
    window.operands.push_back(flow_.node(id_).operands[2]);
    const ValueId nowhere = Constant("-1", index);
    for (size_t d = 0; d < rank_; ++d) window.operands.push_back(nowhere);
    const NodeId found = flow_.Add(std::move(window));
    Dimensions behind = windows;
    behind.push_back(1);
    std::vector<ValueId> places;
    for (size_t d = 0; d < rank_; ++d) places.push_back(Reshape(flow_, flow_.result(found, d + 1), behind));
    return places;
  }

  ir::ValueId Inner(ir::BlockId block, std::string_view name, std::vector<ir::ValueId> operands, ir::TypeId type,
                    std::vector<ir::Attribute> attributes = {}) {
    const std::vector<ir::TypeId> types{type};
    return source_.result(source_.AddOp(
        block,
        {.name = source_.InternName(name), .operands = operands, .result_types = types, .attributes = attributes}));
  }

  // (value, place) of two elements: the first where it is selected and no padding, or where the second is padding.
  ir::RegionId SelectPlace(ir::TypeId index) {
    const ir::TypeId element = TensorLike(source_, flow_.type_id(input_), {});
    std::vector<ir::TypeId> types;
    for (int side = 0; side < 2; ++side) {
      types.push_back(element);
      types.insert(types.end(), rank_, index);
    }
    const ir::BlockId block = source_.AddBlock(types);
    const auto argument = [&](size_t i) { return source_.arguments(block)[i]; };
    const ir::TypeId boolean = ScalarType(source_, "i1");
    const auto held = source_.attributes(compare_);
    const std::vector<ir::Attribute> same(held.begin(), held.end());
    const std::vector<ir::Attribute> differs{
        MakeAttribute(source_, "comparison_direction", "#stablehlo<comparison_direction NE>")};
    const std::vector<ir::Attribute> equals{
        MakeAttribute(source_, "comparison_direction", "#stablehlo<comparison_direction EQ>")};
    const ir::ValueId nowhere =
        Inner(block, "stablehlo.constant", {}, index, {MakeAttribute(source_, "value", "dense<-1> : tensor<i32>")});
    const ir::ValueId wins = Inner(block, "stablehlo.compare", {argument(0), argument(rank_ + 1)}, boolean, same);
    const ir::ValueId first = Inner(block, "stablehlo.compare", {argument(1), nowhere}, boolean, differs);
    const ir::ValueId second = Inner(block, "stablehlo.compare", {argument(rank_ + 2), nowhere}, boolean, equals);
    const ir::ValueId both = Inner(block, "stablehlo.and", {wins, first}, boolean);
    const ir::ValueId takes = Inner(block, "stablehlo.or", {both, second}, boolean);
    std::vector<ir::ValueId> results;
    for (size_t i = 0; i <= rank_; ++i) {
      results.push_back(Inner(block, "stablehlo.select", {takes, argument(i), argument(rank_ + 1 + i)}, types[i]));
    }
    source_.AddOp(block, {.name = source_.InternName("stablehlo.return"), .operands = results});
    return source_.AddRegion(std::vector<ir::BlockId>{block});
  }

  ValueId Scatter(ir::OpId sum, ValueId indices, ValueId values) {
    const ir::TypeId type = flow_.type_id(flow_.result(id_));
    const ValueId zeros = BroadcastInDim(flow_, flow_.node(id_).operands[2], type, {});
    Dimensions all(rank_);
    std::iota(all.begin(), all.end(), 0);
    const std::string numbers = fmt::format(
        "#stablehlo.scatter<inserted_window_dims = [{0}], scatter_dims_to_operand_dims = [{0}], index_vector_dim = "
        "{1}>",
        fmt::join(all, ", "), rank_);
    return Add({.name = "stablehlo.scatter",
                .operands = {zeros, indices, values},
                .results = {type},
                .attributes = {MakeAttribute(source_, "scatter_dimension_numbers", numbers)},
                .origin = sum});
  }

  Dataflow& flow_;
  ir::Module& source_;
  NodeId id_;
  ir::OpId compare_;
  ValueId input_;
  size_t rank_ = 0;
};

}  // namespace

void ExpandSelectAndScatter(Dataflow& flow, PassContext&) {
  const std::vector<NodeId> order = flow.order();
  for (const NodeId id : order) {
    if (flow.node(id).kind == OpKind::kSelectAndScatter) Expander(flow, id).Run();
  }
  flow.Normalise();
}

}  // namespace hespas::optimise
