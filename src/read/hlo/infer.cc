#include "read/hlo/infer.h"

#include <algorithm>
#include <charconv>

#include "base/units.h"
#include "ir/attributes/op_attributes.h"
#include "ir/verify/window.h"
#include "read/hlo/attributes/attributes.h"
#include "read/hlo/attributes/window.h"

namespace hespas::read::hlo {
namespace {

using Inferred = std::optional<ShapeId>;
using ir::Dimensions;

const ir::Element kPredicate{.kind = ir::ElementKind::kInteger, .bits = 1};
const ir::Element kSize{.kind = ir::ElementKind::kInteger, .bits = 32};
const ir::Element kDevice{.kind = ir::ElementKind::kUnsigned, .bits = 32};

// What the rules below read of an instruction.
class Operation {
 public:
  Operation(const ShapelessInstruction& instruction, ShapeTable& shapes) : of_(instruction), shapes_(shapes) {}

  size_t count() const { return of_.operands.size(); }
  ShapeId operand(size_t i) const { return of_.operands[i]; }
  // The type of an array operand; nothing for tuples and operands that do not exist.
  const ir::Type* array(size_t i) const {
    if (i >= count() || shapes_[operand(i)].is_tuple) return nullptr;
    const ir::Type& type = shapes_.type(operand(i));
    return type.is_tensor() ? &type : nullptr;
  }
  Inferred Same(size_t i) const { return i < count() ? Inferred(operand(i)) : std::nullopt; }
  ShapeId Array(Dimensions dims, const ir::Element& element) { return shapes_.Array(std::move(dims), element); }
  ShapeId Tuple(const std::vector<ShapeId>& members) { return shapes_.Tuple(members); }
  Inferred Token() { return shapes_.Find("token[]"); }
  Inferred Member(size_t i, size_t index) const {
    if (i >= count()) return std::nullopt;
    const Shape& shape = shapes_[operand(i)];
    return shape.is_tuple && index < shape.child_count ? Inferred(shapes_.child(operand(i), index)) : std::nullopt;
  }

  Inferred callee_root() const { return of_.callee_root; }
  const ir::Type* callee_array() const {
    if (!of_.callee_root || shapes_[*of_.callee_root].is_tuple) return nullptr;
    const ir::Type& type = shapes_.type(*of_.callee_root);
    return type.is_tensor() ? &type : nullptr;
  }
  std::string_view text(std::string_view key) const { return ValueOf(of_.attributes, key); }
  // An empty list where the key is missing.
  Dimensions list(std::string_view key) const { return Integers(text(key)).value_or(Dimensions{}); }
  std::optional<int64_t> number(std::string_view key) const {
    const std::string_view value = text(key);
    int64_t out = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), out);
    return error == std::errc() && end == value.data() + value.size() ? std::optional(out) : std::nullopt;
  }

 private:
  const ShapelessInstruction& of_;
  ShapeTable& shapes_;
};

bool Within(const Dimensions& dims, size_t rank) {
  return std::all_of(dims.begin(), dims.end(), [&](int64_t d) { return d >= 0 && d < static_cast<int64_t>(rank); });
}
bool Holds(const Dimensions& dims, size_t d) {
  return std::find(dims.begin(), dims.end(), static_cast<int64_t>(d)) != dims.end();
}

Inferred First(Operation& op) { return op.Same(0); }
Inferred Second(Operation& op) { return op.Same(1); }
Inferred CalleeRoot(Operation& op) { return op.callee_root(); }
Inferred FirstMember(Operation& op) { return op.Member(0, 0); }
Inferred SecondMember(Operation& op) { return op.Member(0, 1); }
Inferred Device(Operation& op) { return op.Array({}, kDevice); }
Inferred DimensionSize(Operation& op) { return op.Array({}, kSize); }
Inferred Token(Operation& op) { return op.Token(); }

// The wider of two floating-point operands decides.
Inferred Binary(Operation& op) {
  const ir::Type* a = op.array(0);
  const ir::Type* b = op.array(1);
  if (!a || !b) return std::nullopt;
  return op.Same(b->element.bits > a->element.bits ? 1 : 0);
}

Inferred Predicate(Operation& op) {
  const ir::Type* type = op.array(0);
  return type ? Inferred(op.Array(type->dims, kPredicate)) : std::nullopt;
}

Inferred Component(Operation& op, bool complex) {
  const ir::Type* type = op.array(0);
  if (!type) return std::nullopt;
  ir::Element element = type->element;
  element.complex = complex;
  return op.Array(type->dims, element);
}
Inferred ComplexOf(Operation& op) { return Component(op, true); }
Inferred PartOf(Operation& op) { return Component(op, false); }
Inferred AbsoluteValue(Operation& op) {
  const ir::Type* type = op.array(0);
  return type && type->element.complex ? Component(op, false) : op.Same(0);
}

// Without a shape `dimensions` are the sizes put before the operand's.
Inferred Broadcast(Operation& op) {
  const ir::Type* type = op.array(0);
  if (!type) return std::nullopt;
  Dimensions dims = op.list("dimensions");
  dims.insert(dims.end(), type->dims.begin(), type->dims.end());
  return op.Array(std::move(dims), type->element);
}

Inferred Transpose(Operation& op) {
  const ir::Type* type = op.array(0);
  const Dimensions order = op.list("dimensions");
  if (!type || order.size() != type->dims.size() || !Within(order, type->dims.size())) return std::nullopt;
  Dimensions dims;
  for (const int64_t d : order) dims.push_back(type->dims[static_cast<size_t>(d)]);
  return op.Array(std::move(dims), type->element);
}

Inferred Concatenate(Operation& op) {
  const ir::Type* type = op.array(0);
  const Dimensions along = op.list("dimensions");
  if (!type || along.size() != 1 || !Within(along, type->dims.size())) return std::nullopt;
  Dimensions dims = type->dims;
  const auto d = static_cast<size_t>(along[0]);
  for (size_t i = 1; i < op.count(); ++i) {
    const ir::Type* other = op.array(i);
    if (!other || other->dims.size() != dims.size()) return std::nullopt;
    dims[d] = internal::SaturatingAdd(dims[d], other->dims[d]);
  }
  return op.Array(std::move(dims), type->element);
}

Inferred Pad(Operation& op) {
  const ir::Type* type = op.array(0);
  const auto padding = ParsePadding(op.text("padding"));
  if (!type || !padding || padding->low.size() != type->dims.size()) return std::nullopt;
  Dimensions dims = type->dims;
  for (size_t i = 0; i < dims.size(); ++i) {
    const int64_t gaps = internal::SaturatingMultiply(std::max<int64_t>(dims[i] - 1, 0), padding->interior[i]);
    dims[i] = internal::SaturatingAdd(internal::SaturatingAdd(dims[i], gaps), padding->low[i] + padding->high[i]);
    if (dims[i] < 0) return std::nullopt;
  }
  return op.Array(std::move(dims), type->element);
}

Inferred Tuple(Operation& op) {
  std::vector<ShapeId> members;
  for (size_t i = 0; i < op.count(); ++i) members.push_back(op.operand(i));
  return op.Tuple(members);
}

Inferred Element(Operation& op) {
  const auto index = op.number("index");
  return index && *index >= 0 ? op.Member(0, static_cast<size_t>(*index)) : std::nullopt;
}

// One operand gives its own shape, several a tuple of theirs.
Inferred Sort(Operation& op) { return op.count() == 1 ? op.Same(0) : Tuple(op); }

Inferred Reduce(Operation& op) {
  const size_t count = op.count() / 2;
  const Dimensions away = op.list("dimensions");
  std::vector<ShapeId> results;
  for (size_t i = 0; i < count; ++i) {
    const ir::Type* type = op.array(i);
    const ir::Type* init = op.array(count + i);
    if (!type || !init) return std::nullopt;
    Dimensions dims;
    for (size_t d = 0; d < type->dims.size(); ++d) {
      if (!Holds(away, d)) dims.push_back(type->dims[d]);
    }
    results.push_back(op.Array(std::move(dims), init->element));
  }
  if (results.empty()) return std::nullopt;
  return results.size() == 1 ? results[0] : op.Tuple(results);
}

Inferred Map(Operation& op) {
  const ir::Type* type = op.array(0);
  const ir::Type* root = op.callee_array();
  return type && root ? Inferred(op.Array(type->dims, root->element)) : std::nullopt;
}

std::optional<ir::Window> WindowOf(Operation& op, const Dimensions& sizes) {
  const auto window = ParseWindow(op.text("window").empty() ? "{}" : op.text("window"));
  if (!window || window->size.size() != sizes.size()) return std::nullopt;
  ir::Window out;
  for (size_t i = 0; i < sizes.size(); ++i) {
    if (window->stride[i] < 1 || window->lhs_dilate[i] < 1 || window->rhs_dilate[i] < 1) return std::nullopt;
    out.push_back({.size = sizes[i],
                   .stride = window->stride[i],
                   .padding_low = window->pad_low[i],
                   .padding_high = window->pad_high[i],
                   .base_dilation = window->lhs_dilate[i],
                   .window_dilation = window->rhs_dilate[i]});
  }
  return out;
}

Inferred ReduceWindow(Operation& op) {
  const ir::Type* type = op.array(0);
  const auto written = ParseWindow(op.text("window").empty() ? "{}" : op.text("window"));
  if (!type || !written || written->size.size() != type->dims.size()) return std::nullopt;
  const auto window = WindowOf(op, written->size);
  if (!window) return std::nullopt;
  Dimensions dims;
  for (size_t i = 0; i < window->size(); ++i) dims.push_back(ir::verify::WindowedSize(type->dims[i], (*window)[i]));
  std::vector<ShapeId> results;
  for (size_t i = 0; i < op.count() / 2; ++i) {
    const ir::Type* init = op.array(op.count() / 2 + i);
    if (!init) return std::nullopt;
    results.push_back(op.Array(dims, init->element));
  }
  if (results.empty()) return std::nullopt;
  return results.size() == 1 ? results[0] : op.Tuple(results);
}

void AppendFree(const ir::Type& type, const Dimensions& batch, const Dimensions& contracting, Dimensions& out) {
  for (size_t d = 0; d < type.dims.size(); ++d) {
    if (!Holds(batch, d) && !Holds(contracting, d)) out.push_back(type.dims[d]);
  }
}

Inferred DotOf(Operation& op, size_t right) {
  const ir::Type* lhs = op.array(0);
  const ir::Type* rhs = op.array(right);
  if (!lhs || !rhs) return std::nullopt;
  const Dimensions lhs_batch = op.list("lhs_batch_dims");
  if (!Within(lhs_batch, lhs->dims.size())) return std::nullopt;
  Dimensions dims;
  for (const int64_t d : lhs_batch) dims.push_back(lhs->dims[static_cast<size_t>(d)]);
  AppendFree(*lhs, lhs_batch, op.list("lhs_contracting_dims"), dims);
  AppendFree(*rhs, op.list("rhs_batch_dims"), op.list("rhs_contracting_dims"), dims);
  return op.Array(std::move(dims), lhs->element.bits < rhs->element.bits ? rhs->element : lhs->element);
}
Inferred Dot(Operation& op) { return DotOf(op, 1); }
Inferred ScaledDot(Operation& op) { return DotOf(op, 2); }

Inferred Convolution(Operation& op) {
  const ir::Type* lhs = op.array(0);
  const ir::Type* rhs = op.array(1);
  const auto labels = ir::AsConvolutionDimensions(op.text("dim_labels"));
  if (!lhs || !rhs || !labels || lhs->dims.size() != rhs->dims.size() ||
      lhs->dims.size() != labels->output_spatial.size() + 2) {
    return std::nullopt;
  }
  const auto at = [](const Dimensions& dims, int64_t d) { return dims[static_cast<size_t>(d)]; };
  Dimensions sizes;
  for (const int64_t d : labels->kernel_spatial) sizes.push_back(at(rhs->dims, d));
  const auto window = WindowOf(op, sizes);
  if (!window) return std::nullopt;
  Dimensions dims(lhs->dims.size());
  const int64_t groups = std::max<int64_t>(op.number("batch_group_count").value_or(1), 1);
  dims[static_cast<size_t>(labels->output_batch)] = at(lhs->dims, labels->input_batch) / groups;
  dims[static_cast<size_t>(labels->output_feature)] = at(rhs->dims, labels->kernel_output_feature);
  for (size_t i = 0; i < window->size(); ++i) {
    dims[static_cast<size_t>(labels->output_spatial[i])] =
        ir::verify::WindowedSize(at(lhs->dims, labels->input_spatial[i]), (*window)[i]);
  }
  return op.Array(std::move(dims), lhs->element);
}

// Offset dimensions at their places, dimensions of the indices at the others.
Inferred Gather(Operation& op) {
  const ir::Type* type = op.array(0);
  const ir::Type* indices = op.array(1);
  const auto vector = op.number("index_vector_dim");
  const Dimensions sizes = op.list("slice_sizes");
  if (!type || !indices || !vector || sizes.size() != type->dims.size()) return std::nullopt;
  Dimensions batch = indices->dims;
  if (*vector >= 0 && *vector < static_cast<int64_t>(batch.size())) batch.erase(batch.begin() + *vector);
  Dimensions offsets;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (!Holds(op.list("collapsed_slice_dims"), d) && !Holds(op.list("operand_batching_dims"), d)) {
      offsets.push_back(sizes[d]);
    }
  }
  Dimensions dims;
  const Dimensions places = op.list("offset_dims");
  if (places.size() != offsets.size()) return std::nullopt;
  size_t next_offset = 0, next_batch = 0;
  for (size_t d = 0; d < batch.size() + offsets.size(); ++d) {
    const bool offset = Holds(places, d);
    if (offset ? next_offset == offsets.size() : next_batch == batch.size()) return std::nullopt;
    dims.push_back(offset ? offsets[next_offset++] : batch[next_batch++]);
  }
  return op.Array(std::move(dims), type->element);
}

Inferred Scatter(Operation& op) {
  std::vector<ShapeId> results;
  for (size_t i = 0; i < op.count() / 2; ++i) results.push_back(op.operand(i));
  if (results.empty()) return std::nullopt;
  return results.size() == 1 ? results[0] : op.Tuple(results);
}

Inferred Fft(Operation& op) {
  const ir::Type* type = op.array(0);
  const Dimensions length = op.list("fft_length");
  if (!type || type->dims.empty() || length.empty()) return std::nullopt;
  Dimensions dims = type->dims;
  if (op.text("fft_type") == "RFFT") dims.back() = length.back() / 2 + 1;
  if (op.text("fft_type") == "IRFFT") dims.back() = length.back();
  ir::Element element = type->element;
  element.complex = op.text("fft_type") != "IRFFT";
  return op.Array(std::move(dims), element);
}

// The normalised values with two lists of features.
Inferred BatchNorm(Operation& op) {
  const ir::Type* type = op.array(0);
  const auto feature = op.number("feature_index");
  if (!type || !feature || !Within({*feature}, type->dims.size())) return std::nullopt;
  const ShapeId features = op.Array({type->dims[static_cast<size_t>(*feature)]}, type->element);
  return op.Tuple({op.operand(0), features, features});
}

Inferred TopK(Operation& op) {
  const ir::Type* type = op.array(0);
  const auto k = op.number("k");
  if (!type || type->dims.empty() || !k || *k < 0) return std::nullopt;
  Dimensions dims = type->dims;
  dims.back() = *k;
  return op.Tuple({op.Array(dims, type->element), op.Array(dims, kSize)});
}

struct Row {
  std::string_view opcode;
  Inferred (*rule)(Operation&);
};
// clang-format off
constexpr Row kRows[] = {
    {"abs", AbsoluteValue}, {"acos", First}, {"acosh", First}, {"add", Binary}, {"add-dependency", First}, {"after-all", Token},
    {"all-gather-done", SecondMember}, {"all-reduce-done", First}, {"and", Binary}, {"asin", First}, {"asinh", First},
    {"atan2", Binary}, {"atanh", First}, {"batch-norm-grad", BatchNorm}, {"batch-norm-inference", First},
    {"batch-norm-training", BatchNorm}, {"broadcast", Broadcast}, {"call", CalleeRoot}, {"cbrt", First},
    {"ceil", First}, {"cholesky", First}, {"clamp", Second}, {"collective-permute-done", SecondMember},
    {"compare", Predicate}, {"complex", ComplexOf}, {"concatenate", Concatenate}, {"conditional", CalleeRoot},
    {"convolution", Convolution}, {"copy", First}, {"copy-done", FirstMember}, {"cosh", First}, {"cosine", First},
    {"count-leading-zeros", First}, {"divide", Binary}, {"domain", First}, {"dot", Dot}, {"erf", First},
    {"exponential", First}, {"exponential-minus-one", First}, {"fft", Fft}, {"floor", First}, {"gather", Gather},
    {"get-dimension-size", DimensionSize}, {"get-tuple-element", Element}, {"imag", PartOf}, {"is-finite", Predicate},
    {"log", First}, {"log-plus-one", First}, {"logistic", First}, {"map", Map}, {"maximum", Binary},
    {"minimum", Binary}, {"multiply", Binary}, {"negate", First}, {"not", First}, {"opt-barrier", First},
    {"or", Binary}, {"pad", Pad}, {"partition-id", Device}, {"popcnt", First}, {"power", Binary}, {"real", PartOf},
    {"reduce", Reduce}, {"reduce-precision", First}, {"reduce-window", ReduceWindow}, {"remainder", Binary},
    {"replica-id", Device}, {"reverse", First}, {"round-nearest-afz", First}, {"round-nearest-even", First},
    {"rsqrt", First}, {"scaled-dot", ScaledDot}, {"scatter", Scatter}, {"select", Second},
    {"select-and-scatter", First}, {"set-dimension-size", First}, {"shift-left", Binary},
    {"shift-right-arithmetic", Binary}, {"shift-right-logical", Binary}, {"sign", First}, {"sine", First},
    {"sinh", First}, {"sort", Sort}, {"sqrt", First}, {"subtract", Binary}, {"tan", First}, {"tanh", First},
    {"topk", TopK}, {"transpose", Transpose}, {"triangular-solve", Second}, {"tuple", Tuple}, {"while", First},
    {"xor", Binary},
};
// clang-format on

}  // namespace

std::optional<ShapeId> InferShape(const ShapelessInstruction& instruction, ShapeTable& shapes) {
  const auto* const row =
      std::lower_bound(std::begin(kRows), std::end(kRows), instruction.opcode,
                       [](const Row& known, std::string_view opcode) { return known.opcode < opcode; });
  if (row == std::end(kRows) || row->opcode != instruction.opcode) return std::nullopt;
  Operation operation(instruction, shapes);
  return row->rule(operation);
}

}  // namespace hespas::read::hlo
