#include "optimise/dataflow/build.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "ir/attributes/attribute.h"

namespace hespas::optimise {

namespace {

ValueId AddOne(Dataflow& flow, NodeInit init) { return flow.result(flow.Add(std::move(init))); }

ir::OpId OriginOf(const Dataflow& flow, ValueId value) {
  const Node* producer = flow.ProducerNode(value);
  // Only the location is wanted: an origin with regions would bring them along.
  return producer != nullptr && producer->origin.valid() && !flow.source().op(producer->origin).first_region.valid()
             ? producer->origin
             : ir::OpId();
}

}  // namespace

ValueId Zeros(Dataflow& flow, ir::TypeId type) {
  ir::Module& source = flow.source();
  const std::string zeros = "dense<0.000000e+00> : " + source.types().Text(type);
  return AddOne(
      flow, {.name = "stablehlo.constant", .results = {type}, .attributes = {MakeAttribute(source, "value", zeros)}});
}

bool Holds(const Dimensions& list, size_t dimension) {
  return std::find(list.begin(), list.end(), static_cast<int64_t>(dimension)) != list.end();
}

std::string ArrayText(const Dimensions& values) {
  return values.empty() ? "array<i64>" : fmt::format("array<i64: {}>", fmt::join(values, ", "));
}

ValueId ReshapeTo(Dataflow& flow, ValueId input, ir::TypeId type) {
  if (flow.type_id(input) == type) return input;
  return AddOne(flow,
                {.name = "stablehlo.reshape", .operands = {input}, .results = {type}, .origin = OriginOf(flow, input)});
}

ValueId Reshape(Dataflow& flow, ValueId input, Dimensions dims) {
  return ReshapeTo(flow, input, TensorLike(flow.source(), flow.type_id(input), std::move(dims)));
}

ValueId Transpose(Dataflow& flow, ValueId input, const Dimensions& permutation) {
  const Dimensions& from = flow.type(input).dims;
  Dimensions dims;
  for (const int64_t p : permutation) dims.push_back(from[static_cast<size_t>(p)]);
  ir::Module& source = flow.source();
  return AddOne(flow, {.name = "stablehlo.transpose",
                       .operands = {input},
                       .results = {TensorLike(source, flow.type_id(input), std::move(dims))},
                       .attributes = {MakeAttribute(source, "permutation", ArrayText(permutation))},
                       .origin = OriginOf(flow, input)});
}

ValueId BroadcastInDim(Dataflow& flow, ValueId input, ir::TypeId type, const Dimensions& to, ir::OpId origin) {
  return AddOne(flow, {.name = "stablehlo.broadcast_in_dim",
                       .operands = {input},
                       .results = {type},
                       .attributes = {MakeAttribute(flow.source(), "broadcast_dimensions", ArrayText(to))},
                       .origin = origin});
}

ValueId PadTo(Dataflow& flow, ValueId input, ValueId value, Dimensions dims) {
  const Dimensions& from = flow.type(input).dims;
  if (from == dims) return input;
  const Dimensions none(dims.size(), 0);
  Dimensions high;
  for (size_t d = 0; d < dims.size(); ++d) high.push_back(dims[d] - from[d]);
  ir::Module& source = flow.source();
  return AddOne(flow, {.name = "stablehlo.pad",
                       .operands = {input, value},
                       .results = {TensorLike(source, flow.type_id(input), std::move(dims))},
                       .attributes = {MakeAttribute(source, "edge_padding_low", ArrayText(none)),
                                      MakeAttribute(source, "edge_padding_high", ArrayText(high)),
                                      MakeAttribute(source, "interior_padding", ArrayText(none))}});
}

ValueId SliceOf(Dataflow& flow, ValueId input, size_t dimension, int64_t start, int64_t limit) {
  Dimensions dims = flow.type(input).dims;
  Dimensions starts(dims.size(), 0);
  Dimensions limits = dims;
  starts[dimension] = start;
  limits[dimension] = limit;
  dims[dimension] = limit - start;
  ir::Module& source = flow.source();
  return AddOne(flow, {.name = "stablehlo.slice",
                       .operands = {input},
                       .results = {TensorLike(source, flow.type_id(input), std::move(dims))},
                       .attributes = {MakeAttribute(source, "start_indices", ArrayText(starts)),
                                      MakeAttribute(source, "limit_indices", ArrayText(limits)),
                                      MakeAttribute(source, "strides", ArrayText(Dimensions(starts.size(), 1)))},
                       .origin = OriginOf(flow, input)});
}

ValueId Concatenate(Dataflow& flow, const std::vector<ValueId>& inputs, size_t dimension) {
  Dimensions dims = flow.type(inputs[0]).dims;
  dims[dimension] = 0;
  for (const ValueId input : inputs) dims[dimension] += flow.type(input).dims[dimension];
  ir::Module& source = flow.source();
  return AddOne(flow, {.name = "stablehlo.concatenate",
                       .operands = inputs,
                       .results = {TensorLike(source, flow.type_id(inputs[0]), std::move(dims))},
                       .attributes = {MakeAttribute(source, "dimension", fmt::format("{} : i64", dimension))},
                       .origin = OriginOf(flow, inputs[0])});
}

std::optional<Dimensions> IntegersOf(const Dataflow& flow, const Node& node, std::string_view name) {
  const std::string_view* text = flow.attribute(node, name);
  return text == nullptr ? std::nullopt : ir::AsIntegers(*text);
}

std::optional<int64_t> IntegerOf(const Dataflow& flow, const Node& node, std::string_view name) {
  const std::string_view* text = flow.attribute(node, name);
  return text == nullptr ? std::nullopt : ir::AsInteger(*text);
}

std::optional<double> NumberOf(const Dataflow& flow, ValueId value) {
  const Node* node = flow.ProducerNode(value);
  while (node != nullptr && (node->kind == ir::OpKind::kBroadcastInDim || node->kind == ir::OpKind::kReshape)) {
    node = flow.ProducerNode(node->operands[0]);
  }
  if (node == nullptr || node->kind != ir::OpKind::kConstant) return std::nullopt;
  const std::string_view* text = flow.attribute(*node, "value");
  const auto dense = text == nullptr ? std::nullopt : ir::AsDense(*text);
  const bool alone = dense && (dense->form == ir::DenseForm::kSplat || flow.type(node->first_result).dims.empty());
  if (!alone || dense->payload.starts_with("0x")) return std::nullopt;
  const auto number = ir::AsFloat(dense->payload);
  return number && std::isfinite(*number) ? number : std::nullopt;
}

std::vector<int64_t> NumbersBehind(std::string_view json, std::string_view name) {
  std::vector<int64_t> out;
  size_t at = json.find(name);
  if (at == std::string_view::npos) return out;
  at = json.find('[', at);
  bool in_number = false;
  for (; at < json.size() && json[at] != ']'; ++at) {
    const bool digit = json[at] >= '0' && json[at] <= '9';
    if (digit && !in_number) out.push_back(0);
    if (digit && out.back() < 1'000'000) out.back() = out.back() * 10 + (json[at] - '0');
    in_number = digit;
  }
  return out;
}

Dimensions Inverse(const Dimensions& permutation) {
  Dimensions out(permutation.size());
  for (size_t i = 0; i < permutation.size(); ++i) out[static_cast<size_t>(permutation[i])] = static_cast<int64_t>(i);
  return out;
}

Dimensions WithoutUnits(const Dimensions& dims) {
  Dimensions out;
  for (const int64_t d : dims) {
    if (d != 1) out.push_back(d);
  }
  return out;
}

bool EqualWithoutUnits(const Dimensions& a, const Dimensions& b) {
  const auto skip = [](auto at, auto end) { return std::find_if(at, end, [](int64_t d) { return d != 1; }); };
  auto x = skip(a.begin(), a.end());
  auto y = skip(b.begin(), b.end());
  while (x != a.end() && y != b.end() && *x == *y) {
    x = skip(x + 1, a.end());
    y = skip(y + 1, b.end());
  }
  return x == a.end() && y == b.end();
}

int64_t Product(const Dimensions& dims) {
  int64_t product = 1;
  for (const int64_t d : dims) {
    if (__builtin_mul_overflow(product, d, &product)) return INT64_MAX;
  }
  return product;
}

}  // namespace hespas::optimise
