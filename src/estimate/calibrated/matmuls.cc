#include "estimate/calibrated/matmuls.h"

#include <algorithm>
#include <cmath>

#include "estimate/cost.h"
#include "estimate/ragged_dot.h"
#include "ir/attributes/op_attributes.h"
#include "ir/facts/library_call.h"

namespace hespas::estimate::calibrated {
namespace {

double Elements(const ir::Type& type) { return static_cast<double>(std::max<int64_t>(1, type.element_count())); }

double Extent(const ir::Type& type, int64_t dimension) {
  if (dimension < 0 || static_cast<size_t>(dimension) >= type.dims.size()) return 1;
  const int64_t size = type.dims[static_cast<size_t>(dimension)];
  return size == ir::kDynamic ? 1 : static_cast<double>(size);
}

double Extents(const ir::Type& type, const ir::Dimensions& dimensions) {
  double product = 1;
  for (const int64_t dimension : dimensions) product *= Extent(type, dimension);
  return product;
}

// The array that a library call of the form (result, workspace) returns.
const ir::Type& MainResult(const ir::Module& module, ir::OpId op) {
  const ir::Type& type = module.type(module.result(op));
  return type.kind == ir::TypeKind::kTuple && !type.nested.empty() ? module.types()[type.nested[0]] : type;
}

// From the sizes alone: |A| = b m k, |B| = b k n, |C| = b m n.
KernelSpec FromSizes(double a, double b, double c, double batch) {
  return {.shape = Shape::kGemm,
          .b = batch,
          .m = std::sqrt(a * c / b) / std::sqrt(batch),
          .n = std::sqrt(b * c / a) / std::sqrt(batch),
          .k = std::sqrt(a * b / c) / std::sqrt(batch)};
}

KernelSpec FromDot(const ir::Module& module, ir::OpId op) {
  const ir::Type& lhs = module.type(module.operands(op)[0]);
  const ir::Type& rhs = module.type(module.operands(op)[1]);
  const auto dims = ir::DotDimensionsOf(module, op);
  if (!dims) return FromSizes(Elements(lhs), Elements(rhs), Elements(MainResult(module, op)), 1);
  const double batch = Extents(lhs, dims->lhs_batching);
  const double k = Extents(lhs, dims->lhs_contracting);
  return {
      .shape = Shape::kGemm, .b = batch, .m = Elements(lhs) / (batch * k), .n = Elements(rhs) / (batch * k), .k = k};
}

// XLA's TPU compiler writes a batch of matmuls as a window of the batch's size that meets one element at a time: bases
// dilated by as much, a stride of one less.
double BatchInWindow(const ir::Module& module, ir::OpId op, const ir::ConvolutionDimensions& dims) {
  const auto window = ir::WindowOf(module, op);
  if (!window || window->size() != dims.kernel_spatial.size() || dims.input_spatial.size() < window->size() ||
      dims.output_spatial.size() < window->size())
    return 1;
  double batch = 1;
  for (size_t i = 0; i < window->size(); ++i) {
    const ir::WindowDimension& w = (*window)[i];
    const auto size = static_cast<double>(w.size);
    const bool one_by_one = w.size > 1 && w.base_dilation == w.size && w.stride == std::max<int64_t>(1, w.size - 1) &&
                            Extent(module.type(module.operands(op)[0]), dims.input_spatial[i]) == size &&
                            Extent(MainResult(module, op), dims.output_spatial[i]) == size;
    if (one_by_one) batch *= size;
  }
  return batch;
}

// Channels of a tile of cuDNN's grouped kernels: groups that are narrower share a tile and are multiplied as its
// diagonal blocks (sm80_xmma_*_implicit_gemm ... tilesize64x64x64 for groups of four channels on an H100).
constexpr double kGroupTile = 64;

// Input channels of each group of a call of cuDNN; 0 where there is one group.
double GroupChannels(const ir::Module& module, ir::OpId op) {
  if (ir::LibraryKindOf(module, op) != ir::LibraryKind::kConvolution) return 0;
  const auto dims = ir::ConvolutionDimensionsOf(module, op);
  if (!dims || module.op(op).operand_count < 2 || module.op(op).result_count == 0) return 0;
  const std::string target = ir::CallTarget(module, op);
  const bool filter = target.starts_with("__cudnn$convBackwardFilter");
  const bool input = target.starts_with("__cudnn$convBackwardInput");
  const ir::Type& kernel = filter ? MainResult(module, op) : module.type(module.operands(op)[1]);
  const ir::Type& whole = input ? MainResult(module, op) : module.type(module.operands(op)[0]);
  const double channels = Extent(kernel, dims->kernel_input_feature);
  return Extent(whole, dims->input_feature) > channels ? channels : 0;
}

// The contraction grows to a tile's channels, or for a gradient of the kernel its rows.
void FillGroupTiles(const ir::Module& module, ir::OpId op, KernelSpec& matmul) {
  const double channels = GroupChannels(module, op);
  if (channels <= 1 || channels >= kGroupTile) return;
  const bool filter = ir::CallTarget(module, op).starts_with("__cudnn$convBackwardFilter");
  (filter ? matmul.m : matmul.k) *= kGroupTile / channels;
}

// Implicit matmul: C[batch and places, output features], contracted over the window and input features.
KernelSpec FromConvolution(const ir::Module& module, ir::OpId op) {
  const ir::Type& out = MainResult(module, op);
  const auto dims = ir::ConvolutionDimensionsOf(module, op);
  if (!dims)
    return FromSizes(Elements(module.type(module.operands(op)[0])), Elements(module.type(module.operands(op)[1])),
                     Elements(out), 1);
  const double outer = static_cast<double>(std::max<int64_t>({1, dims->feature_group_count, dims->batch_group_count}));
  const double n = Extent(out, dims->output_feature) / outer;
  const double groups = outer * BatchInWindow(module, op, *dims);
  const double m = Elements(out) / (n * groups);
  const double real = module.type(module.operands(op)[0]).element.complex ? 4 : 1;
  const double flops = static_cast<double>(ContractionFlops(module, op)) / real;
  return {.shape = Shape::kGemm, .b = groups, .m = m, .n = n, .k = std::max(1.0, flops / (2 * m * n * groups))};
}

// Where the call does not say more, matrices are the two last dimensions of what it takes and gives.
KernelSpec FromLibraryCall(const ir::Module& module, ir::OpId op) {
  if (const auto call = ir::LibraryCallOf(module, op); call && call->flops() > 0) {
    KernelSpec matmul{.shape = Shape::kGemm,
                      .b = static_cast<double>(call->batch),
                      .m = static_cast<double>(call->m),
                      .n = static_cast<double>(call->n),
                      .k = static_cast<double>(call->k)};
    FillGroupTiles(module, op, matmul);
    return matmul;
  }
  if (ir::ConvolutionDimensionsOf(module, op)) return FromConvolution(module, op);
  const ir::Type& lhs = module.type(module.operands(op)[0]);
  const ir::Type& rhs = module.type(module.operands(op)[1]);
  const ir::Type& out = MainResult(module, op);
  double batch = 1;
  if (lhs.dims.size() > 2 && rhs.dims.size() > 2) {
    for (size_t i = 0; i + 2 < out.dims.size(); ++i) batch *= Extent(out, static_cast<int64_t>(i));
  }
  return FromSizes(Elements(lhs), Elements(rhs), Elements(out), std::max(1.0, batch));
}

// Ragged dots, einsums and calls: a ragged dot is a matmul for each group.
KernelSpec FromCall(const ir::Module& module, ir::OpId op, const OpCost& cost) {
  if (const auto ragged = RaggedDotOf(module, op)) {
    return {.shape = Shape::kGemm,
            .b = static_cast<double>(ragged->groups),
            .m = static_cast<double>(ragged->m),
            .n = static_cast<double>(ragged->n),
            .k = static_cast<double>(cost.flops) / (2.0 * static_cast<double>(ragged->groups) *
                                                    static_cast<double>(ragged->m) * static_cast<double>(ragged->n))};
  }
  if (module.kind(op) == ir::OpKind::kCustomCall) return FromLibraryCall(module, op);
  const ir::Type& lhs = module.type(module.operands(op)[0]);
  const ir::Type& rhs = module.type(module.operands(op)[1]);
  KernelSpec matmul = FromSizes(Elements(lhs), Elements(rhs), Elements(MainResult(module, op)), 1);
  matmul.k = static_cast<double>(cost.flops) / (2 * matmul.m * matmul.n);
  return matmul;
}

// XLA dot_strength_reduction: a vector with a vector always, with a matrix below so many elements.
bool IsStrengthReduced(const KernelSpec& matmul) {
  constexpr double kSmall = 1e7;  // gpu/transforms/algebraic_simplifier.cc
  if (matmul.m > 1 && matmul.n > 1) return false;
  if (matmul.m <= 1 && matmul.n <= 1) return true;
  return matmul.b > 1 && matmul.b * (matmul.m * matmul.k + matmul.k * matmul.n) < kSmall;
}

// Of both operands on average; 0 where it is the type's own.
double OperandBytes(const ir::Module& module, ir::OpId op, const KernelSpec& matmul) {
  const ir::Element& lhs = module.type(module.operands(op)[0]).element;
  const ir::Element& rhs = module.type(module.operands(op)[1]).element;
  const auto left = static_cast<double>(ir::ElementBits(lhs));
  const auto right = static_cast<double>(ir::ElementBits(rhs));
  if (left == right) return !lhs.complex && left >= 8 && left < 64 ? 0 : left / 8;
  return (left * matmul.m + right * matmul.n) / (matmul.m + matmul.n) / 8;
}

}  // namespace

KernelSpec Matmul::On(const Machine& machine) const {
  const MatrixType run = MatrixTypeOn(machine, arithmetic);
  KernelSpec resolved = kernel;
  resolved.type = run.type;
  resolved.passes = run.passes;
  return resolved;
}

bool IsDepthwiseCall(const ir::Module& module, ir::OpId op) { return GroupChannels(module, op) == 1; }

std::optional<KernelSpec> MatmulOf(const ir::Module& module, ir::OpId op, const Machine& machine) {
  const auto matmul = MatmulIn(module, op);
  return matmul ? std::optional(matmul->On(machine)) : std::nullopt;
}

std::optional<Matmul> MatmulIn(const ir::Module& module, ir::OpId op) {
  if (module.op(op).operand_count < 2 || module.op(op).result_count == 0) return std::nullopt;
  if (module.kind(op) == ir::OpKind::kFusion) return std::nullopt;  // its operands are not those of its matmul
  const OpCost cost = CostOf(module, op);
  if (!cost.contraction || cost.flops <= 0 || cost.own_kernel || IsDepthwiseCall(module, op)) return std::nullopt;
  const std::vector<Arithmetic> arithmetic = ArithmeticOf(module, op);
  if (arithmetic.empty() || !arithmetic.front().type) return std::nullopt;  // no matrix unit multiplies the type
  KernelSpec matmul;
  switch (module.kind(op)) {
    case ir::OpKind::kDot:
    case ir::OpKind::kDotGeneral:
      matmul = FromDot(module, op);
      break;
    case ir::OpKind::kConvolution:
    case ir::OpKind::kDynamicConv:
      matmul = FromConvolution(module, op);
      break;
    default:
      matmul = FromCall(module, op, cost);
  }
  if (!ir::ConvolutionDimensionsOf(module, op) && IsStrengthReduced(matmul)) return std::nullopt;
  matmul.type = *arithmetic.front().type;
  matmul.result_bytes = static_cast<double>(ir::ElementBits(MainResult(module, op).element)) / 8;
  matmul.operand_bytes = OperandBytes(module, op, matmul);
  // Its matrix holds other groups' channels, too. The tiles' constants are fitted to whole networks with the matrices
  // of all other convolutions.
  if (GroupChannels(module, op) > 0) matmul.bytes = static_cast<double>(cost.bytes);
  matmul.real_matmuls = module.type(module.operands(op)[0]).element.complex ? 4 : 1;
  if (matmul.b > 1) matmul.shape = Shape::kBatchedGemm;
  return Matmul{matmul, arithmetic.front()};
}

}  // namespace hespas::estimate::calibrated
