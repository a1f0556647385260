// Work of matmuls, einsums and convolutions.
#include <algorithm>
#include <string_view>
#include <vector>

#include "estimate/cost_rules.h"
#include "estimate/ragged_dot.h"
#include "ir/attributes/attribute.h"
#include "ir/attributes/op_attributes.h"
#include "ir/facts/convolution_work.h"

namespace hespas::estimate {
namespace {

using ir::OpKind;

int64_t Product(const std::vector<int64_t>& dims, const ir::Type& type) {
  int64_t product = 1;
  for (const int64_t d : dims) {
    if (d < 0 || static_cast<size_t>(d) >= type.dims.size()) continue;
    const int64_t size = type.dims[static_cast<size_t>(d)];
    if (size != ir::kDynamic) product = Times(product, size);
  }
  return product;
}

int64_t DotFlops(const Shapes& s) {
  if (s.inputs() < 2 || s.outputs() < 1) return 0;
  const auto dims = ir::DotDimensionsOf(s.module, s.op);
  const int64_t depth = dims ? Product(dims->lhs_contracting, s.in(0))
                             : DimensionOr(s.in(0), static_cast<int64_t>(s.in(0).dims.size()) - 1, 1);
  return Times(2, Times(s.out_elements(), depth));
}

// The share of the ragged rows that belong to a group, from constant group sizes, times the busiest device's load over
// the mean (driver: --moe-imbalance).
double RaggedShare(const Shapes& s, int64_t rows) {
  double share = 1;
  const ir::OpId sizes = s.inputs() > 2 ? s.module.defining_op(s.module.operands(s.op)[2]) : ir::OpId();
  if (sizes.valid() && s.module.kind(sizes) == OpKind::kConstant) {
    const std::string_view* text = s.module.attribute(sizes, "value");
    const auto values = text == nullptr ? std::nullopt : ir::AsIntegers(*text);
    double used = 0;
    if (values) {
      for (const int64_t value : *values) used += static_cast<double>(std::max<int64_t>(value, 0));
      share = std::min(1.0, used / static_cast<double>(std::max<int64_t>(rows, 1)));
    }
  }
  const std::string_view* imbalance = s.module.attribute(s.op, "hespas.imbalance");
  return share * (imbalance == nullptr ? 1.0 : ir::AsFloat(*imbalance).value_or(1.0));
}

// Every row belongs to one group, so that the groups do not multiply the work.
int64_t RaggedDotFlops(const Shapes& s) {
  const auto dot = RaggedDotOf(s.module, s.op);
  if (!dot) return 0;
  const double all = 2 * static_cast<double>(dot->multiply_adds);
  return internal::SaturatingRound(all * RaggedShare(s, dot->ragged_rows));
}

// The dimension that the `i`th character of an einsum's operand ("...ij") names: those behind an ellipsis count from
// the end.
int64_t DimensionAt(std::string_view indices, size_t i, const ir::Type& type) {
  const size_t dots = indices.find("...");
  if (dots == std::string_view::npos || i < dots) return static_cast<int64_t>(i);
  return static_cast<int64_t>(type.dims.size() + i) - static_cast<int64_t>(indices.size());
}

// A multiply-add for each combination of all indices ("bij,bjk->bik"); an ellipsis stands for leading dimensions of the
// result.
int64_t EinsumFlops(const Shapes& s) {
  const std::string_view* text = s.module.attribute(s.op, "einsum_config");
  const auto config = text == nullptr ? std::nullopt : ir::AsString(*text);
  if (s.inputs() < 2 || !config) return s.in_elements(0);
  int64_t product = s.out_elements();
  const std::string_view inputs = std::string_view(*config).substr(0, config->find("->"));
  const std::string_view result = std::string_view(*config).substr(inputs.size());
  const std::string_view left = inputs.substr(0, inputs.find(','));
  for (size_t i = 0; i < left.size(); ++i) {
    if (left[i] == '.' || result.find(left[i]) != std::string_view::npos) continue;
    product = Times(product, DimensionOr(s.in(0), DimensionAt(left, i, s.in(0)), 1));
  }
  return Times(2, product);
}

// A kernel with blocks of its own.
OpCost TiledCost(const Shapes& s, const RaggedDot& dot) {
  const auto of = [&](ir::ValueId value) {
    return static_cast<double>(ir::ByteSize(s.module.types(), s.module.type_id(value)));
  };
  const auto operands = s.module.operands(s.op);
  return {
      .flops = RaggedDotFlops(s),
      .bytes = internal::SaturatingRound(dot.KernelBytes(of(operands[0]), of(operands[1]), of(s.module.result(s.op)))),
      .contraction = true,
      .own_kernel = true,
      .padding = dot.Padding()};
}

}  // namespace

int64_t ConvolutionFlops(const Shapes& s) { return Times(2, ir::ConvolutionMultiplyAdds(s.module, s.op)); }

int64_t ContractionFlops(const ir::Module& module, ir::OpId op) {
  const Shapes s{module, op};
  const int64_t real = IsComplex(s) ? kRealProducts : 1;
  switch (module.kind(op)) {
    case OpKind::kConvolution:
    case OpKind::kDynamicConv:
      return Times(real, ConvolutionFlops(s));
    case OpKind::kRaggedDot:
      return Times(real, RaggedDotFlops(s));
    case OpKind::kEinsum:
    case OpKind::kUnaryEinsum:
      return Times(real, EinsumFlops(s));
    default:
      return Times(real, DotFlops(s));
  }
}

OpCost ContractionCost(const Shapes& s) {
  if (const auto dot = RaggedDotOf(s.module, s.op); dot && dot->tiling) return TiledCost(s, *dot);
  return {.flops = ContractionFlops(s.module, s.op), .bytes = s.all(), .contraction = true};
}

}  // namespace hespas::estimate
