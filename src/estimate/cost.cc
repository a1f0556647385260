#include "estimate/cost.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "base/units.h"
#include "estimate/calls/custom_kernel.h"
#include "estimate/fusion_cost.h"
#include "estimate/prefix_sum.h"
#include "estimate/radix_sort.h"
#include "estimate/ragged_dot.h"
#include "ir/attributes/attribute.h"
#include "ir/attributes/op_attributes.h"
#include "ir/facts/convolution_work.h"
#include "ir/facts/library_call.h"
#include "ir/walk.h"

namespace hespas::estimate {
namespace {

using internal::SaturatingAdd;
using internal::SaturatingMultiply;
using ir::OpKind;
using ir::OpSort;

// Sizes of one op's operands and results.
struct Shapes {
  const ir::Module& module;
  ir::OpId op;

  size_t inputs() const { return module.op(op).operand_count; }
  size_t outputs() const { return module.op(op).result_count; }
  const ir::Type& in(size_t i) const { return module.type(module.operands(op)[i]); }
  const ir::Type& out(size_t i = 0) const { return module.type(module.result(op, i)); }
  int64_t in_bytes(size_t i) const {
    return i < inputs() ? ir::ByteSize(module.types(), module.type_id(module.operands(op)[i])) : 0;
  }
  int64_t out_bytes(size_t i = 0) const {
    return i < outputs() ? ir::ByteSize(module.types(), module.type_id(module.result(op, i))) : 0;
  }
  int64_t in_elements(size_t i) const { return i < inputs() ? in(i).element_count() : 0; }
  int64_t out_elements(size_t i = 0) const { return i < outputs() ? out(i).element_count() : 0; }

  int64_t all_in() const {
    int64_t sum = 0;
    for (size_t i = 0; i < inputs(); ++i) sum = SaturatingAdd(sum, in_bytes(i));
    return sum;
  }
  int64_t all_out() const {
    int64_t sum = 0;
    for (size_t i = 0; i < outputs(); ++i) sum = SaturatingAdd(sum, out_bytes(i));
    return sum;
  }
  int64_t all() const { return SaturatingAdd(all_in(), all_out()); }
};

int64_t Times(int64_t a, int64_t b) { return SaturatingMultiply(a, b); }

int64_t Product(const std::vector<int64_t>& dims, const ir::Type& type) {
  int64_t product = 1;
  for (const int64_t d : dims) {
    if (d < 0 || static_cast<size_t>(d) >= type.dims.size()) continue;
    const int64_t size = type.dims[static_cast<size_t>(d)];
    if (size != ir::kDynamic) product = Times(product, size);
  }
  return product;
}

int64_t DimensionOr(const ir::Type& type, int64_t d, int64_t otherwise) {
  if (d < 0 || static_cast<size_t>(d) >= type.dims.size()) return otherwise;
  const int64_t size = type.dims[static_cast<size_t>(d)];
  return size == ir::kDynamic ? otherwise : size;
}

int64_t ConvolutionFlops(const Shapes& s) { return Times(2, ir::ConvolutionMultiplyAdds(s.module, s.op)); }

bool IsComplex(const Shapes& s) { return s.inputs() > 0 && s.in(0).element.complex; }

constexpr int64_t kRealProducts = 4;  // multiply-adds of real numbers in one of complex numbers

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

int64_t WindowSize(const Shapes& s) {
  int64_t size = 1;
  const auto window = ir::WindowOf(s.module, s.op);
  if (window) {
    for (const ir::WindowDimension& w : *window) size = Times(size, w.size);
  }
  return size;
}

// Applications of the body of a reduction: every input element but the first of each output, for each operand pair.
int64_t ReductionFlops(const Shapes& s) {
  const auto pairs = static_cast<int64_t>(std::max<size_t>(s.inputs() / 2, 1));
  switch (s.module.kind(s.op)) {
    case OpKind::kReduce:
      return Times(pairs, std::max<int64_t>(s.in_elements(0) - s.out_elements(), 0));
    case OpKind::kReduceWindow:
      if (const auto prefix = PrefixSumOf(s.module, s.op)) return Times(pairs, prefix->applications);
      return Times(pairs, Times(std::max<int64_t>(WindowSize(s) - 1, 0), s.out_elements()));
    case OpKind::kSelectAndScatter:
      return Times(WindowSize(s), s.in_elements(1));
    case OpKind::kBatchNormGrad:
      return Times(10, s.in_elements(0));
    default:  // batch_norm_training: mean, variance, normalise
      return Times(8, s.in_elements(0));
  }
}

int64_t OtherFlops(const Shapes& s) {
  const ir::Type& type = s.inputs() > 0 ? s.in(0) : s.out();
  const int64_t last = DimensionOr(type, static_cast<int64_t>(type.dims.size()) - 1, 1);
  switch (s.module.kind(s.op)) {
    case OpKind::kCholesky:  // n^3 / 3 for each matrix
      return Times(s.in_elements(0), last) / 3;
    case OpKind::kTriangularSolve:  // n^2 for each right-hand side
      return Times(s.out_elements(), last);
    case OpKind::kFft: {  // 5 N log2 N (Cooley and Tukey 1965) over the transformed dimensions
      const auto length = ir::IntegersAttribute(s.module, s.op, "fft_length");
      double n = 1;
      if (length) {
        for (const int64_t l : *length) n *= static_cast<double>(std::max<int64_t>(l, 1));
      }
      return internal::SaturatingRound(5.0 * static_cast<double>(std::max(s.in_elements(0), s.out_elements())) *
                                       std::log2(std::max(n, 2.0)));
    }
    default:
      return 0;
  }
}

// A dimension that a thread block's shared memory holds is transformed in one pass over all data, a longer one in two.
OpCost OtherCost(const Shapes& s) {
  OpCost cost{.flops = OtherFlops(s), .bytes = s.all(), .steps = FactorisationSteps(s.module, s.op)};
  if (s.module.kind(s.op) != OpKind::kFft) return cost;
  constexpr int64_t kHeld = 8192;  // complex numbers of 8 bytes: 64 KiB, an assumption
  int64_t passes = 0;
  if (const auto lengths = ir::IntegersAttribute(s.module, s.op, "fft_length")) {
    for (const int64_t length : *lengths) passes += length > kHeld ? 2 : 1;
  }
  cost.bytes = Times(std::max<int64_t>(1, passes), cost.bytes);
  cost.steps = static_cast<double>(std::max<int64_t>(1, passes) - 1);
  return cost;
}

// Only the rows that are touched move: read and written once each, and the indices.
int64_t GatherBytes(const Shapes& s) { return SaturatingAdd(Times(2, s.out_bytes()), s.in_bytes(1)); }

// Updates are read, their places read and written, in the operand's own buffer.
int64_t ScatterBytes(const Shapes& s) {
  const size_t inputs = s.inputs() / 2;  // operands, indices, updates
  int64_t updates = 0;
  for (size_t i = inputs + 1; i < s.inputs(); ++i) updates = SaturatingAdd(updates, s.in_bytes(i));
  return SaturatingAdd(Times(3, updates), s.in_bytes(inputs));
}

int64_t ScatterFlops(const Shapes& s) {
  int64_t elements = 0;
  for (size_t i = s.inputs() / 2 + 1; i < s.inputs(); ++i) elements = SaturatingAdd(elements, s.in_elements(i));
  return elements;
}

int64_t MapFlops(const Shapes& s) {
  int64_t ops = 0;
  ir::WalkNested(s.module, s.op,
                 [&](ir::OpId inner) { ops += ir::Traits(s.module.kind(inner)).sort == OpSort::kElementwise; });
  return Times(std::max<int64_t>(ops, 1), s.out_elements());
}

// Operations on real numbers that one on complex numbers takes.
int64_t RealOperations(OpKind kind, const Shapes& s) {
  if (!IsComplex(s)) return 1;
  if (kind == OpKind::kMultiply) return 6;
  return kind == OpKind::kAdd || kind == OpKind::kSubtract ? 2 : 1;
}

// A prefix sum's parts are written and read once more.
OpCost ReductionCost(const Shapes& s) {
  OpCost cost{.flops = ReductionFlops(s), .bytes = s.all()};
  if (const auto prefix = PrefixSumOf(s.module, s.op)) {
    cost.bytes = Times(2, cost.bytes);
    cost.steps = static_cast<double>(prefix->kernels);
  }
  return cost;
}

OpCost ElementwiseCost(const Shapes& s) {
  const OpKind kind = s.module.kind(s.op);
  if (kind == OpKind::kBitcastConvert) return {};
  const int64_t flops = kind == OpKind::kMap ? MapFlops(s) : Times(RealOperations(kind, s), s.out_elements());
  return {.flops = flops, .bytes = s.all()};
}

OpCost LayoutCost(const Shapes& s) {
  if (s.module.kind(s.op) == OpKind::kBitcast) return {};
  return {.bytes = s.all()};
}

OpCost SliceCost(const Shapes& s) {
  if (s.module.kind(s.op) == OpKind::kDynamicUpdateSlice) return {.bytes = Times(2, s.in_bytes(1))};
  return {.bytes = Times(2, s.out_bytes())};
}

// Infeeds and outfeeds cross the host's link; sends and receives the network.
OpCost TransferCost(const Shapes& s) {
  const OpKind kind = s.module.kind(s.op);
  if (kind != OpKind::kInfeed && kind != OpKind::kOutfeed) return {.bytes = s.all()};
  return {.bytes = s.all(), .own_kernel = true, .host_bytes = s.all()};
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

OpCost ContractionCost(const Shapes& s) {
  if (const auto dot = RaggedDotOf(s.module, s.op); dot && dot->tiling) return TiledCost(s, *dot);
  return {.flops = ContractionFlops(s.module, s.op), .bytes = s.all(), .contraction = true};
}

// Of a sort or a call that is CUB's.
std::optional<OpCost> RadixSortCost(const Shapes& s) {
  const auto sort = RadixSortOf(s.module, s.op);
  if (!sort) return std::nullopt;
  return OpCost{.bytes = internal::SaturatingRound(sort->bytes), .steps = static_cast<double>(sort->kernels - 1)};
}

// A stage of a bitonic network reads and writes all; as many as fit run in one kernel, on what lies in shared memory.
OpCost SortCost(const Shapes& s) {
  if (s.module.kind(s.op) == OpKind::kTopK) return {.bytes = s.all()};
  if (const auto radix = RadixSortCost(s)) return *radix;
  const int64_t kernels = BitonicKernels(s.module, s.op);
  return {.bytes = Times(kernels, Times(2, s.all_in())), .steps = static_cast<double>(kernels - 1)};
}

// What a custom call is known to do, by a part of its target.
enum class CustomWork : uint8_t { kNothing, kConvolution, kMatrix, kMove };
struct CustomCallRow {
  std::string_view part;
  CustomWork work;
};
constexpr CustomCallRow kCustomCalls[] = {
    {"Sharding", CustomWork::kNothing},
    {"SPMDFullToShardShape", CustomWork::kNothing},
    {"SPMDShardToFullShape", CustomWork::kNothing},
    {"annotate_device_placement", CustomWork::kNothing},
    {"xla.sdy", CustomWork::kNothing},
    {"LayoutConstraint", CustomWork::kNothing},
    {"AllocateBuffer", CustomWork::kNothing},
    {"conv", CustomWork::kConvolution},
    {"gemm", CustomWork::kMatrix},
    {"matmul", CustomWork::kMatrix},
    {"TopK", CustomWork::kMove},
};

// The first result of a library call of the form (result, workspace), and the two matrices it multiplies.
int64_t LibraryMatrixFlops(const Shapes& s) {
  if (s.inputs() < 2 || s.outputs() < 1) return 0;
  const ir::Type* out = &s.out();
  if (out->kind == ir::TypeKind::kTuple && !out->nested.empty()) out = &s.module.types()[out->nested[0]];
  const double a = static_cast<double>(s.in_elements(0));
  const double b = static_cast<double>(s.in_elements(1));
  const double c = std::max(1.0, static_cast<double>(out->element_count()));
  return internal::SaturatingRound(2.0 * c * std::sqrt(a * b / c));
}

// GEMMs and convolutions of cuBLAS and cuDNN, from their configuration; their workspaces are memory, not traffic.
std::optional<OpCost> LibraryCost(const Shapes& s) {
  const auto call = ir::LibraryCallOf(s.module, s.op);
  if (!call || call->flops() <= 0 || s.outputs() == 0) return std::nullopt;
  const ir::Type& result = s.out();
  const bool tuple = result.kind == ir::TypeKind::kTuple && !result.nested.empty();
  int64_t bytes = tuple ? ir::ByteSize(s.module.types(), result.nested[0]) : s.out_bytes();
  for (size_t i = 0; i < s.inputs(); ++i) bytes = internal::SaturatingAdd(bytes, s.in_bytes(i));
  const int64_t real = IsComplex(s) ? kRealProducts : 1;
  return OpCost{.flops = Times(real, call->flops()), .bytes = bytes, .contraction = true};
}

OpCost CustomCallCost(const Shapes& s) {
  if (const auto kernel = CustomKernelCost(s.module, s.op)) return *kernel;
  if (const auto library = LibraryCost(s)) return *library;
  if (const auto radix = RadixSortCost(s)) return *radix;
  const std::string_view* text = s.module.attribute(s.op, "call_target_name");
  const std::string_view target = text == nullptr ? std::string_view() : *text;
  for (const CustomCallRow& row : kCustomCalls) {
    if (target.find(row.part) == std::string_view::npos) continue;
    switch (row.work) {
      case CustomWork::kNothing:
        return {};
      case CustomWork::kConvolution: {
        const int64_t flops = ConvolutionFlops(s);
        return {.flops = flops > 0 ? flops : LibraryMatrixFlops(s), .bytes = s.all(), .contraction = true};
      }
      case CustomWork::kMatrix:
        return {.flops = LibraryMatrixFlops(s), .bytes = s.all(), .contraction = true};
      case CustomWork::kMove:
        return {.bytes = s.all()};
    }
  }
  switch (ir::Traits(ir::KindOf(ir::CalledOperation(s.module, s.op))).sort) {
    case OpSort::kElementwise:
      return {.flops = s.out_elements(), .bytes = s.all()};
    case OpSort::kSort:
      return {.bytes = s.all()};
    case OpSort::kContraction:
      return ContractionCost(s);
    default:
      return {.bytes = s.all(), .known = false, .unknown_target = target};
  }
}

bool IsFloat(const ir::Element& element) {
  return element.kind >= ir::ElementKind::kF64 && element.kind <= ir::ElementKind::kF6E3M2FN;
}

// Whether a matmul of the two runs as one of `a`: mixed operands are converted to the wider.
bool Outranks(const ir::Element& a, const ir::Element& b) {
  if (IsFloat(a) != IsFloat(b)) return IsFloat(a);
  return ir::ElementBits(a) > ir::ElementBits(b);
}

// Of a dot's two operands; of a call's, the first arrays that are no tables of indices.
const ir::Element* FactorElement(const ir::Module& module, ir::OpId op) {
  const bool call = module.kind(op) == OpKind::kCustomCall;
  const ir::Element* found = nullptr;
  size_t factors = 0;
  for (const ir::ValueId operand : module.operands(op)) {
    const ir::Type& type = module.type(operand);
    if (type.element.kind == ir::ElementKind::kNone || (call && type.dims.size() < 2)) continue;
    const bool replaces = found == nullptr || Outranks(type.element, *found);
    if (replaces && !(call && found != nullptr && IsFloat(*found))) found = &type.element;
    if (!call && ++factors == 2) break;
  }
  return found;
}

}  // namespace

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

OpCost CostOf(const ir::Module& module, ir::OpId op) {
  const Shapes s{module, op};
  switch (ir::Traits(module.kind(op)).sort) {
    case OpSort::kElementwise:
      return ElementwiseCost(s);
    case OpSort::kReduction:
      return ReductionCost(s);
    case OpSort::kContraction:
      return ContractionCost(s);
    case OpSort::kLayout:
      return LayoutCost(s);
    case OpSort::kSlice:
      return SliceCost(s);
    case OpSort::kGather:
      return {.bytes = GatherBytes(s)};
    case OpSort::kScatter:
      return {.flops = ScatterFlops(s), .bytes = ScatterBytes(s)};
    case OpSort::kSort:
      return SortCost(s);
    case OpSort::kRandom:
      return {.flops = s.out_elements(s.outputs() > 1 ? 1 : 0), .bytes = s.all()};
    case OpSort::kTransfer:
      return TransferCost(s);
    case OpSort::kFusion:
      return FusionCost(module, op);
    case OpSort::kCustomCall:
      return CustomCallCost(s);
    case OpSort::kOther:
      return OtherCost(s);
    case OpSort::kUnknown:
      return {.bytes = s.all(), .known = false};
    case OpSort::kConstant:
    case OpSort::kFree:
    case OpSort::kCollective:
    case OpSort::kAsync:
    case OpSort::kControl:
    case OpSort::kCall:
    case OpSort::kTerminator:
    case OpSort::kStructure:
      return {};
  }
  return {};
}

const ir::Element* RateElement(const ir::Module& module, ir::OpId op, bool contraction) {
  if (contraction) {
    const ir::Element* factor = FactorElement(module, op);
    if (factor != nullptr) return factor;
  }
  const ir::Element* widest = nullptr;
  const auto consider = [&](ir::ValueId value) {
    const ir::Element& element = module.type(value).element;
    if (element.kind == ir::ElementKind::kNone) return;
    if (widest == nullptr || ir::ElementBits(element) > ir::ElementBits(*widest)) widest = &element;
  };
  for (const ir::ValueId operand : module.operands(op)) consider(operand);
  for (const ir::ValueId result : module.results(op)) consider(result);
  return widest;
}

double HostSeconds(const hardware::Device& device, const OpCost& cost) {
  constexpr BytesPerSecond kUsual{32e9};
  if (cost.host_bytes == 0) return 0;
  return static_cast<double>(cost.host_bytes) / device.host_bandwidth.value_or(kUsual).value;
}

bool HasDynamicShape(const ir::Module& module, ir::OpId op) {
  const auto dynamic = [&](ir::ValueId value) {
    const ir::Type& type = module.type(value);
    return type.kind == ir::TypeKind::kUnrankedTensor ||
           std::find(type.dims.begin(), type.dims.end(), ir::kDynamic) != type.dims.end();
  };
  const auto operands = module.operands(op);
  if (std::any_of(operands.begin(), operands.end(), dynamic)) return true;
  for (const ir::ValueId result : module.results(op)) {
    if (dynamic(result)) return true;
  }
  return false;
}

}  // namespace hespas::estimate
