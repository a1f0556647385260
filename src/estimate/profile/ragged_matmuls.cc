#include "estimate/profile/ragged_matmuls.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <initializer_list>
#include <numeric>
#include <optional>
#include <string>
#include <unordered_map>

#include "ir/attributes/attribute.h"
#include "ir/attributes/op_attributes.h"
#include "ir/walk.h"

namespace hespas::estimate {
namespace {

using ir::Dimensions;
using ir::ValueId;

struct Ragged {
  ir::DotDimensions dot;
  int64_t rows = 0;              // the left operand's dimension that falls into groups
  std::optional<int64_t> group;  // the right operand's dimension of groups; none where rows are summed over
  bool batched = false;          // rows are of a batch dimension: an ordinary matmul
};

std::optional<Ragged> Read(const ir::Module& module, ir::OpId op) {
  const std::string_view* text = module.attribute(op, "ragged_dot_dimension_numbers");
  if (text == nullptr || module.operands(op).size() != 3) return std::nullopt;
  const std::vector<ir::Entry> entries = ir::Entries(*text);
  const auto nested = ir::FindEntry(entries, "dot_dimension_numbers");
  const std::vector<ir::Entry> plain = nested ? ir::Entries(*nested) : entries;
  const auto list = [](const std::vector<ir::Entry>& from, std::string_view name) {
    return ir::AsIntegers(ir::FindEntry(from, name).value_or("[]")).value_or(Dimensions{});
  };
  Ragged ragged{.dot = {list(plain, "lhs_batching_dimensions"), list(plain, "rhs_batching_dimensions"),
                        list(plain, "lhs_contracting_dimensions"), list(plain, "rhs_contracting_dimensions")}};
  const Dimensions rows = list(entries, "lhs_ragged_dimensions"), groups = list(entries, "rhs_group_dimensions");
  const ir::Type& sizes = module.type(module.operands(op)[2]);
  const auto fixed = [&](ValueId value) {
    return module.type(value).is_tensor() && module.type(value).has_static_shape();
  };
  const auto operands = module.operands(op);
  if (rows.size() != 1 || sizes.dims.size() != 1 || !std::all_of(operands.begin(), operands.end(), fixed)) return {};
  ragged.rows = rows[0];
  ragged.batched = std::count(ragged.dot.lhs_batching.begin(), ragged.dot.lhs_batching.end(), ragged.rows) > 0;
  if (!groups.empty()) ragged.group = groups[0];
  return ragged;
}

// Writes the ops that stand for one matmul.
class Expansion {
 public:
  Expansion(ir::Module& module, ir::BlockId block, std::vector<ir::OpId>& ordered)
      : module_(module), block_(block), ordered_(ordered) {}

  ValueId Run(ir::OpId op, const Ragged& ragged) {
    const ValueId lhs = module_.operands(op)[0], rhs = module_.operands(op)[1], sizes = module_.operands(op)[2];
    const ir::TypeId result = module_.type_id(module_.result(op));
    if (ragged.batched) return Matmul(lhs, rhs, ragged.dot, result);
    const ValueId copies = RowsOfGroups(lhs, sizes, ragged.rows);
    ir::DotDimensions dot = ragged.dot;
    for (Dimensions* dims : {&dot.lhs_batching, &dot.lhs_contracting}) {
      for (int64_t& d : *dims) ++d;
    }
    if (ragged.group) {  // summed over groups, of which all but one are zeros
      dot.lhs_contracting.insert(dot.lhs_contracting.begin(), 0);
      dot.rhs_contracting.insert(dot.rhs_contracting.begin(), *ragged.group);
      return Matmul(copies, rhs, dot, result);
    }
    for (Dimensions* dims : {&dot.rhs_batching, &dot.rhs_contracting}) {
      for (int64_t& d : *dims) ++d;
    }
    dot.lhs_batching.insert(dot.lhs_batching.begin(), 0);
    dot.rhs_batching.insert(dot.rhs_batching.begin(), 0);
    return Matmul(copies, Repeated(rhs, GroupsOf(sizes)), dot, result);
  }

 private:
  int64_t GroupsOf(ValueId sizes) const { return module_.type(sizes).dims[0]; }

  // [group, ...]: `lhs` with zeros wherever a row is not the group's.
  ValueId RowsOfGroups(ValueId lhs, ValueId sizes, int64_t rows) {
    const int64_t groups = GroupsOf(sizes);
    const ir::Element integer = module_.type(sizes).element;
    const ir::TypeId square = module_.types().InternTensor({groups, groups}, integer);
    const ValueId not_behind = Compare(Iota(square, 1), Iota(square, 0), "LE");
    const ValueId ones = Op("stablehlo.convert", {not_behind}, square);
    const ValueId ends = Matmul(ones, sizes, {{}, {}, {1}, {0}}, module_.type_id(sizes));
    const ValueId starts = Op("stablehlo.subtract", {ends, sizes}, module_.type_id(sizes));
    Dimensions dims = module_.type(lhs).dims;
    dims.insert(dims.begin(), groups);
    const ir::TypeId places = module_.types().InternTensor(dims, integer);
    const ValueId place = Iota(places, rows + 1);
    const ValueId from = Compare(place, Broadcast(starts, places, {0}), "GE");
    const ValueId to = Compare(place, Broadcast(ends, places, {0}), "LT");
    const ValueId inside = Op("stablehlo.and", {from, to}, module_.type_id(from));
    const ir::TypeId copies = module_.types().InternTensor(dims, module_.type(lhs).element);
    return Op("stablehlo.select", {inside, Repeated(lhs, groups), Zeros(copies)}, copies);
  }

  ValueId Op(std::string_view name, std::initializer_list<ValueId> operands, ir::TypeId type,
             std::initializer_list<std::pair<std::string_view, std::string>> attributes = {}) {
    std::vector<ir::Attribute> held;
    for (const auto& [key, text] : attributes) held.push_back({module_.InternName(key), module_.Keep(text)});
    const ir::TypeId types[] = {type};
    ordered_.push_back(module_.AddOp(block_, {.name = module_.InternName(name),
                                              .operands = {operands.begin(), operands.size()},
                                              .result_types = types,
                                              .attributes = held}));
    return module_.result(ordered_.back());
  }

  ValueId Iota(ir::TypeId type, int64_t dimension) {
    return Op("stablehlo.iota", {}, type, {{"iota_dimension", fmt::format("{} : i64", dimension)}});
  }
  ValueId Compare(ValueId a, ValueId b, std::string_view direction) {
    const ir::TypeId type = module_.types().InternTensor(module_.type(a).dims, *ir::ElementFromText("i1"));
    return Op("stablehlo.compare", {a, b}, type,
              {{"comparison_direction", fmt::format("#stablehlo<comparison_direction {}>", direction)}});
  }
  ValueId Broadcast(ValueId value, ir::TypeId type, const Dimensions& dims) {
    const std::string list = dims.empty() ? "array<i64>" : fmt::format("array<i64: {}>", fmt::join(dims, ", "));
    return Op("stablehlo.broadcast_in_dim", {value}, type, {{"broadcast_dimensions", list}});
  }
  // As often as there are groups, in a new first dimension.
  ValueId Repeated(ValueId value, int64_t groups) {
    Dimensions dims = module_.type(value).dims, places(dims.size());
    std::iota(places.begin(), places.end(), 1);
    dims.insert(dims.begin(), groups);
    return Broadcast(value, module_.types().InternTensor(dims, module_.type(value).element), places);
  }
  // Zeros of any element type: false is one.
  ValueId Zeros(ir::TypeId type) {
    const ir::TypeId boolean = module_.types().InternTensor({}, *ir::ElementFromText("i1"));
    const ir::TypeId scalar = module_.types().InternTensor({}, module_.types()[type].element);
    const ValueId no = Op("stablehlo.constant", {}, boolean, {{"value", "dense<false> : tensor<i1>"}});
    return Broadcast(Op("stablehlo.convert", {no}, scalar), type, {});
  }
  ValueId Matmul(ValueId lhs, ValueId rhs, const ir::DotDimensions& dot, ir::TypeId type) {
    return Op("stablehlo.dot_general", {lhs, rhs}, type, {{"dot_dimension_numbers", ir::DotDimensionsText(dot)}});
  }

  ir::Module& module_;
  ir::BlockId block_;
  std::vector<ir::OpId>& ordered_;
};

}  // namespace

void ExpandRaggedMatmuls(ir::Module& module) {
  std::vector<ir::BlockId> blocks;
  bool any = false;
  ir::WalkNested(
      module, module.root(), [&](ir::BlockId block) { blocks.push_back(block); },
      [&](ir::OpId op) { any |= module.kind(op) == ir::OpKind::kRaggedDot; });
  if (!any) return;
  std::unordered_map<uint32_t, ValueId> made;
  for (const ir::BlockId block : blocks) {
    const std::vector<ir::OpId> ops = module.block(block).ops;
    std::vector<ir::OpId> ordered;
    for (const ir::OpId op : ops) {
      const auto ragged = module.kind(op) == ir::OpKind::kRaggedDot ? Read(module, op) : std::nullopt;
      if (!ragged) {
        ordered.push_back(op);
      } else {
        made[module.result(op).value] = Expansion(module, block, ordered).Run(op, *ragged);
      }
    }
    module.SetBlockOps(block, std::move(ordered));
  }
  // Operands of matmuls may be other matmuls' results.
  for (size_t op = 0; op < module.op_count(); ++op) {
    const ir::OpId id(op);
    for (size_t i = 0; i < module.operands(id).size(); ++i) {
      const auto found = made.find(module.operands(id)[i].value);
      if (found != made.end()) module.SetOperand(id, i, found->second);
    }
  }
}

}  // namespace hespas::estimate
