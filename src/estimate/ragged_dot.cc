#include "estimate/ragged_dot.h"

#include <algorithm>
#include <string_view>

#include "base/units.h"
#include "ir/attributes/attribute.h"
#include "ir/attributes/op_attributes.h"
#include "ir/facts/library_call.h"

namespace hespas::estimate {
namespace {

using internal::SaturatingMultiply;
using ir::Dimensions;

int64_t Extent(const ir::Type& type, int64_t d) {
  if (d < 0 || static_cast<size_t>(d) >= type.dims.size()) return 1;
  const int64_t size = type.dims[static_cast<size_t>(d)];
  return size == ir::kDynamic ? 1 : std::max<int64_t>(size, 1);
}

int64_t Extents(const ir::Type& type, const Dimensions& dimensions) {
  int64_t product = 1;
  for (const int64_t d : dimensions) product = SaturatingMultiply(product, Extent(type, d));
  return product;
}

// `lhs_contracting_dimensions = [0]` anywhere in a text.
std::optional<Dimensions> ListIn(std::string_view text, std::string_view name) {
  const size_t at = text.find(name);
  const size_t open = at == std::string_view::npos ? at : text.find('[', at);
  const size_t close = open == std::string_view::npos ? open : text.find(']', open);
  if (close == std::string_view::npos) return std::nullopt;
  return ir::AsIntegers(text.substr(open, close - open + 1));
}

class Numbers {
 public:
  Numbers(const ir::Module& module, ir::OpId op) : module_(module), op_(op) {}

  // By MLIR's name within an attribute, or HLO's attribute of its own.
  Dimensions List(std::string_view name, std::string_view hlo_name) const {
    for (const std::string_view holder : {"ragged_dot_dimension_numbers", "mhlo.attributes"}) {
      const std::string_view* text = module_.attribute(op_, holder);
      if (text == nullptr) continue;
      if (auto list = ListIn(*text, name)) return *std::move(list);
    }
    return ir::IntegersAttribute(module_, op_, hlo_name).value_or(Dimensions());
  }

 private:
  const ir::Module& module_;
  ir::OpId op_;
};

bool Holds(const Dimensions& list, int64_t value) { return std::find(list.begin(), list.end(), value) != list.end(); }

bool IsRaggedDot(const ir::Module& module, ir::OpId op) {
  if (module.op(op).operand_count < 2 || module.op(op).result_count == 0) return false;
  return module.kind(op) == ir::OpKind::kRaggedDot || ir::CalledOperation(module, op) == "chlo.ragged_dot";
}

}  // namespace

std::optional<RaggedDot> RaggedDotOf(const ir::Module& module, ir::OpId op) {
  if (!IsRaggedDot(module, op)) return std::nullopt;
  const ir::Type& lhs = module.type(module.operands(op)[0]);
  const ir::Type& rhs = module.type(module.operands(op)[1]);
  const ir::Type& out = module.type(module.result(op));
  const Numbers numbers(module, op);
  Dimensions contracting = numbers.List("lhs_contracting_dimensions", "lhs_contracting_dims");
  Dimensions ragged = numbers.List("lhs_ragged_dimensions", "lhs_ragged_dims");
  const bool gradient = rhs.dims.size() == lhs.dims.size() && out.dims.size() == lhs.dims.size() + 1;
  // JAX's own two forms, where the call does not tell: rows ragged, or the contraction.
  const auto last = static_cast<int64_t>(lhs.dims.size()) - 1;
  if (contracting.empty()) contracting = {gradient ? std::max<int64_t>(last - 1, 0) : last};
  if (ragged.empty()) ragged = {gradient ? contracting[0] : std::max<int64_t>(last - 1, 0)};
  const int64_t depth = Extents(lhs, contracting);
  RaggedDot dot;
  dot.ragged_rows = Extents(lhs, ragged);
  const int64_t results = std::max<int64_t>(out.element_count(), 1);
  dot.multiply_adds = SaturatingMultiply(results, depth);
  const size_t sizes = module.op(op).operand_count > 2 ? 2 : 0;
  const ir::Type& group_sizes = module.type(module.operands(op)[sizes]);
  dot.groups = sizes == 0 || group_sizes.dims.empty()
                   ? 1
                   : Extent(group_sizes, static_cast<int64_t>(group_sizes.dims.size()) - 1);
  const int64_t left = std::max<int64_t>(lhs.element_count(), 1) / std::max<int64_t>(depth, 1);
  dot.m = std::max<int64_t>(left, 1);
  dot.k = depth;
  if (Holds(contracting, ragged[0])) {
    // Each group sums over its own rows and writes a result of its own.
    dot.multiply_adds /= std::max<int64_t>(dot.groups, 1);
    dot.n = std::max<int64_t>(results / SaturatingMultiply(dot.groups, dot.m), 1);
    dot.k = (depth + dot.groups - 1) / dot.groups;
    return dot;
  }
  dot.n = std::max<int64_t>(results / dot.m, 1);
  dot.m = (dot.m + dot.groups - 1) / dot.groups;
  return dot;
}

}  // namespace hespas::estimate
