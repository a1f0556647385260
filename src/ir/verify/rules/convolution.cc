#include <algorithm>

#include "ir/attributes/attribute.h"
#include "ir/attributes/op_attributes.h"
#include "ir/verify/rules.h"
#include "ir/verify/window.h"

namespace hespas::ir::verify {
namespace {

// Batch, feature and spatial dimensions name every dimension once.
bool CheckLabels(Check& check, int64_t first, int64_t second, const Dimensions& spatial, int64_t rank,
                 std::string_view what) {
  Dimensions all = {first, second};
  all.insert(all.end(), spatial.begin(), spatial.end());
  if (static_cast<int64_t>(all.size()) != rank) {
    return check.Fail(kBadDimension, "the {} dimensions are {}, but the rank is {}", what, all.size(), rank);
  }
  return check.ExpectDimensions(all, rank, what);
}

bool CheckDimensionNumbers(Check& check, const ConvolutionDimensions& dims) {
  const int64_t rank = check.operand_rank(0);
  if (rank != check.operand_rank(1)) {
    return check.Fail(kTypeMismatch, "operands must have one rank, but are `{}` and `{}`",
                      check.text(check.operand_type(0)), check.text(check.operand_type(1)));
  }
  if (rank < 2) return check.Fail(kTypeMismatch, "operands need a batch and a feature dimension");
  return CheckLabels(check, dims.input_batch, dims.input_feature, dims.input_spatial, rank, "input") &&
         CheckLabels(check, dims.kernel_input_feature, dims.kernel_output_feature, dims.kernel_spatial, rank,
                     "kernel") &&
         CheckLabels(check, dims.output_batch, dims.output_feature, dims.output_spatial, rank, "output");
}

bool Divides(int64_t groups, int64_t size) { return size == kDynamic || size % groups == 0; }

bool CheckGroups(Check& check, const ConvolutionDimensions& dims) {
  const int64_t features = dims.feature_group_count;
  const int64_t batches = dims.batch_group_count;
  if (features < 1 || batches < 1) {
    return check.Fail(kBadAttribute, "group counts must be positive, but are {} (feature) and {} (batch)", features,
                      batches);
  }
  if (features > 1 && batches > 1) {
    return check.Fail(kBadAttribute, "one of `feature_group_count` ({}) and `batch_group_count` ({}) must be 1",
                      features, batches);
  }
  const auto size = [&](size_t operand, int64_t d) { return check.operand(operand).dims[static_cast<size_t>(d)]; };
  const int64_t input_features = size(0, dims.input_feature);
  if (!Divides(batches, size(0, dims.input_batch))) {
    return check.Fail(kBadDimension, "the batch size {} is no multiple of `batch_group_count` {}",
                      size(0, dims.input_batch), batches);
  }
  if (!Divides(features, input_features)) {
    return check.Fail(kBadDimension, "{} input features are no multiple of `feature_group_count` {}", input_features,
                      features);
  }
  const int64_t kernel_input = size(1, dims.kernel_input_feature);
  if (input_features != kDynamic && kernel_input != kDynamic && input_features / features != kernel_input) {
    return check.Fail(kTypeMismatch, "{} input features in {} groups do not fit a kernel of {} input features",
                      input_features, features, kernel_input);
  }
  const int64_t kernel_output = size(1, dims.kernel_output_feature);
  if (!Divides(batches, kernel_output) || !Divides(features, kernel_output)) {
    return check.Fail(kBadDimension, "{} output features are no multiple of the group count {}", kernel_output,
                      std::max(batches, features));
  }
  return true;
}

// Sizes of the result; spatial sizes are left open where `window` is not known.
Dimensions ResultShape(Check& check, const ConvolutionDimensions& dims, const Window* window) {
  const auto at = [](Dimensions& list, int64_t i) -> int64_t& { return list[static_cast<size_t>(i)]; };
  Dimensions lhs = check.operand(0).dims;
  Dimensions rhs = check.operand(1).dims;
  Dimensions out(lhs.size(), kDynamic);
  const int64_t batch = at(lhs, dims.input_batch);
  at(out, dims.output_batch) = batch == kDynamic ? kDynamic : batch / dims.batch_group_count;
  at(out, dims.output_feature) = at(rhs, dims.kernel_output_feature);
  for (size_t i = 0; window && i < window->size(); ++i) {
    at(out, dims.output_spatial[i]) = WindowedSize(at(lhs, dims.input_spatial[i]), (*window)[i]);
  }
  return out;
}

// Operands of one type; the result may be wider, as JAX's preferred_element_type asks for. XLA's TPU compiler itself
// mixes bf16 and pred.
bool CheckElements(Check& check) {
  constexpr ClassMask kAnyQuantised = kQuantised | kQuantisedAxis;
  if (check.hlo() || ((check.operand_facts(0).classes | check.operand_facts(1).classes) & kAnyQuantised) ||
      CompatibleElements(check.facts(), check.operand_type(0), check.operand_type(1))) {
    return true;
  }
  return check.Fail(kTypeMismatch, "operands `{}` and `{}` differ in element type", check.text(check.operand_type(0)),
                    check.text(check.operand_type(1)));
}

bool CheckCommon(Check& check, const ConvolutionDimensions& dims) {
  return CheckDimensionNumbers(check, dims) && CheckElements(check) && CheckGroups(check, dims) &&
         CheckPrecision(check);
}

Dimensions KernelSizes(Check& check, const ConvolutionDimensions& dims) {
  Dimensions sizes;
  for (const int64_t d : dims.kernel_spatial) sizes.push_back(check.operand(1).dims[static_cast<size_t>(d)]);
  return sizes;
}

// Operand 2 of dynamic_conv: a row of low and high for each spatial dimension.
bool CheckPaddingOperand(Check& check, size_t spatial) {
  if (!check.operand_ranked(2)) return true;
  const Dimensions& dims = check.operand(2).dims;
  if (dims.size() == 2 && CompatibleSizes(dims[0], static_cast<int64_t>(spatial)) && CompatibleSizes(dims[1], 2)) {
    return true;
  }
  return check.Fail(kBadDimension, "the padding must have the shape [{}, 2], but has {}", spatial, ShapeList(dims));
}

std::optional<ConvolutionDimensions> ReadDimensions(Check& check) {
  if (!check.has("dim_numbers") && !check.Require("dimension_numbers")) return std::nullopt;
  auto dims = ConvolutionDimensionsOf(check.module(), check.id());
  if (!dims) check.Fail(kBadAttribute, "`dimension_numbers` cannot be read");
  return dims;
}

}  // namespace

bool CheckConvolution(Check& check) {
  if (!check.operand_ranked(0) || !check.operand_ranked(1)) return true;
  const auto dims = ReadDimensions(check);
  if (!dims || !CheckCommon(check, *dims)) return false;
  const auto window = ReadWindow(check, KernelSizes(check, *dims), kConvolutionWindow);
  if (!window) return false;
  return check.ExpectShape(ResultShape(check, *dims, &*window)) && CheckQuantisedContraction(check);
}

bool CheckDynamicConvolution(Check& check) {
  if (!check.operand_ranked(0) || !check.operand_ranked(1)) return true;
  const auto dims = ReadDimensions(check);
  if (!dims || !CheckCommon(check, *dims) || !CheckPaddingOperand(check, dims->kernel_spatial.size())) return false;
  const auto padding = check.ConstantOperand(2);
  std::optional<Window> window;
  // Like the reference implementation, looks at the window where the padding is known: JAX exports strides of batch
  // and features, too, where it is not.
  if (padding && padding->size() == 2 * dims->kernel_spatial.size()) {
    window = ReadWindow(check, KernelSizes(check, *dims), kConvolutionWindow);
    if (!window) return false;
    for (size_t i = 0; i < window->size(); ++i) {
      (*window)[i].padding_low = (*padding)[2 * i];
      (*window)[i].padding_high = (*padding)[2 * i + 1];
    }
  }
  return check.ExpectShape(ResultShape(check, *dims, window ? &*window : nullptr)) && CheckQuantisedContraction(check);
}

}  // namespace hespas::ir::verify
