#include "optimise/gpu/triton/matmul_order.h"

#include <algorithm>

#include "optimise/gpu/rules.h"

namespace hespas::optimise {
namespace {

using ir::OpKind;
using ir::OpSort;

int64_t CountOf(const MatmulOrder& order, uint32_t label) {
  int64_t count = 1;
  for (const auto& dimension : order) {
    for (const OrderPart& part : dimension) count *= part.label == label ? part.size : 1;
  }
  return count;
}

// A dimension of a matmul that is broadcast must not be there already.
std::optional<MatmulOrder> BeforeBroadcast(const Dataflow& flow, const Node& node, const MatmulOrder& order) {
  const auto& from = flow.type(node.operands[0]).dims;
  const auto kept = IntegersOf(flow, node, "broadcast_dimensions");
  if (!kept || kept->size() != from.size()) return std::nullopt;
  MatmulOrder out(from.size());
  for (size_t i = 0; i < from.size(); ++i) {
    if (from[i] != 1) out[i] = order[static_cast<size_t>((*kept)[i])];
  }
  for (const auto& dimension : order) {
    for (const OrderPart& part : dimension) {
      const int64_t count = CountOf(out, part.label);
      if (count != 1 && count != CountOf(order, part.label)) return std::nullopt;
    }
  }
  return out;
}

std::optional<std::vector<MatmulOrder>> BeforeConcatenate(const Dataflow& flow, const Node& node,
                                                          const MatmulOrder& order, uint32_t beside) {
  const auto at = IntegerOf(flow, node, "dimension");
  if (!at) return std::nullopt;
  const auto dimension = static_cast<size_t>(*at);
  if (order[dimension].size() != 1 || order[dimension][0].label != beside) return std::nullopt;
  if (order[dimension][0].size != CountOf(order, beside)) return std::nullopt;
  std::vector<MatmulOrder> out;
  for (const ValueId operand : node.operands) {
    const int64_t size = flow.type(operand).dims[dimension];
    if (size % gpu_rules::kConcatenationPiece != 0) return std::nullopt;
    out.push_back(order);
    out.back()[dimension][0].size = size;
  }
  return out;
}

// Only the major part of a dimension may come from inside a larger one.
std::optional<MatmulOrder> BeforeSlice(const Dataflow& flow, const Node& node, MatmulOrder order) {
  const auto& from = flow.type(node.operands[0]).dims;
  const auto& to = flow.type(node.first_result).dims;
  const auto strides = IntegersOf(flow, node, "strides");
  if (strides && strides->size() != from.size()) return std::nullopt;
  for (size_t i = 0; i < from.size(); ++i) {
    if (from[i] == to[i]) continue;
    if (order[i].size() != 1 || (strides && (*strides)[i] != 1)) return std::nullopt;
    OrderPart& part = order[i][0];
    if (part.stride * part.size != CountOf(order, part.label)) return std::nullopt;
    part.size = from[i];
  }
  return order;
}

std::optional<MatmulOrder> Transposed(const Dataflow& flow, const Node& node, const MatmulOrder& order, bool back) {
  const auto permutation = IntegersOf(flow, node, "permutation");
  if (!permutation || permutation->size() != order.size()) return std::nullopt;
  const Dimensions from = back ? Inverse(*permutation) : *permutation;
  MatmulOrder out;
  for (const int64_t dimension : from) out.push_back(order[static_cast<size_t>(dimension)]);
  return out;
}

std::optional<std::vector<MatmulOrder>> Single(std::optional<MatmulOrder> order) {
  if (!order) return std::nullopt;
  return std::vector<MatmulOrder>{std::move(*order)};
}

struct Place {
  size_t position;  // among all parts of the value
  OrderPart part;
};

bool LiesInOnePiece(std::vector<Place> places, uint32_t label, Divisible& divisible) {
  std::sort(places.begin(), places.end(), [](const Place& a, const Place& b) { return a.part.stride > b.part.stride; });
  size_t breaks = 0;
  int64_t major = places[0].part.size;
  for (size_t i = 1; i < places.size(); ++i) {
    if (places[i].position < places[i - 1].position) return false;
    if (places[i].position != places[i - 1].position + 1) ++breaks;
    if (breaks == 0) major *= places[i].part.size;
  }
  if (breaks == 0) return true;
  if (breaks > 1 || divisible.label != label) return false;
  if (divisible.major != 0 && divisible.major != major) return false;
  divisible.major = major;
  return true;
}

}  // namespace

MatmulOrder OrderOf(const Dimensions& dims, const std::vector<uint32_t>& labels) {
  MatmulOrder order(dims.size());
  for (size_t i = dims.size(); i-- > 0;) {
    if (dims[i] != 1) order[i] = {{labels[i], dims[i], CountOf(order, labels[i])}};
  }
  return order;
}

std::optional<MatmulOrder> Regroup(const MatmulOrder& order, const Dimensions& dims) {
  std::vector<OrderPart> rest;  // the next one last
  for (size_t i = order.size(); i-- > 0;) rest.insert(rest.end(), order[i].rbegin(), order[i].rend());
  MatmulOrder out;
  for (int64_t left : dims) {
    out.emplace_back();
    while (left > 1) {
      if (rest.empty()) return std::nullopt;
      OrderPart& part = rest.back();
      if (left % part.size == 0) {
        left /= part.size;
        out.back().push_back(part);
        rest.pop_back();
        continue;
      }
      if (part.size % left != 0) return std::nullopt;
      part.size /= left;
      out.back().push_back({part.label, left, part.stride * part.size});
      left = 1;
    }
  }
  if (!rest.empty()) return std::nullopt;
  return out;
}

std::optional<std::vector<MatmulOrder>> OrdersOfOperands(const Dataflow& flow, const Node& node,
                                                         const MatmulOrder& order, uint32_t beside) {
  switch (node.kind) {
    case OpKind::kReshape:
      return Single(Regroup(order, flow.type(node.operands[0]).dims));
    case OpKind::kTranspose:
      return Single(Transposed(flow, node, order, true));
    case OpKind::kBroadcastInDim:
      return Single(BeforeBroadcast(flow, node, order));
    case OpKind::kSlice:
      return Single(BeforeSlice(flow, node, order));
    case OpKind::kConcatenate:
      return BeforeConcatenate(flow, node, order, beside);
    default:
      if (ir::Traits(node.kind).sort != OpSort::kElementwise) return std::nullopt;
      return std::vector<MatmulOrder>(node.operands.size(), order);
  }
}

std::optional<MatmulOrder> OrderOfResult(const Dataflow& flow, const Node& node, const MatmulOrder& order) {
  if (node.kind == OpKind::kReshape) return Regroup(order, flow.type(node.first_result).dims);
  if (node.kind == OpKind::kTranspose) return Transposed(flow, node, order, false);
  return ir::Traits(node.kind).sort == OpSort::kElementwise ? std::optional(order) : std::nullopt;
}

bool CanTile(const MatmulOrder& order, Divisible& divisible) {
  std::vector<std::pair<uint32_t, std::vector<Place>>> labels;
  size_t position = 0;
  for (const auto& dimension : order) {
    for (const OrderPart& part : dimension) {
      auto found = std::find_if(labels.begin(), labels.end(), [&](auto& entry) { return entry.first == part.label; });
      if (found == labels.end()) found = labels.insert(labels.end(), {part.label, {}});
      found->second.push_back({position++, part});
    }
  }
  return std::all_of(labels.begin(), labels.end(),
                     [&](const auto& entry) { return LiesInOnePiece(entry.second, entry.first, divisible); });
}

}  // namespace hespas::optimise
