#include "estimate/ragged_dot.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>

#include "base/units.h"
#include "ir/attributes/attribute.h"
#include "ir/attributes/op_attributes.h"
#include "ir/facts/library_call.h"
#include "ir/facts/ragged_dot_tiling.h"

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

// `name = "text"` anywhere in a text.
std::string Quoted(std::string_view text, std::string_view name) {
  const size_t at = text.find(name);
  const size_t open = at == std::string_view::npos ? at : text.find('"', at + name.size());
  const size_t start = open == at + name.size() ? text.find('"', open + 1) : open;  // HLO quotes the name, too
  const size_t close = start == std::string_view::npos ? start : text.find('"', start + 1);
  return close == std::string_view::npos ? std::string() : std::string(text.substr(start + 1, close - start - 1));
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

  std::optional<Tiling> KernelTiling() const {
    const std::string_view* text = module_.attribute(op_, ir::kFrontendAttributes);
    if (text == nullptr || !ir::TellsBlocks(*text)) return std::nullopt;
    const std::string sizes = Quoted(*text, ir::kRaggedDotTiling);
    const auto list = ir::AsIntegers("[" + sizes + "]");
    if (!list || list->size() != 3) return std::nullopt;
    const auto size = [&](size_t i) { return std::max<int64_t>((*list)[i], 1); };
    return Tiling{.m = size(0), .k = size(1), .n = size(2)};
  }

 private:
  const ir::Module& module_;
  ir::OpId op_;
};

double Blocks(int64_t extent, int64_t size) {
  return std::ceil(static_cast<double>(extent) / static_cast<double>(std::min(extent, size)));
}

double Whole(int64_t extent, int64_t size) {
  return Blocks(extent, size) * static_cast<double>(std::min(extent, size)) / static_cast<double>(extent);
}

bool Holds(const Dimensions& list, int64_t value) { return std::find(list.begin(), list.end(), value) != list.end(); }

bool IsRaggedDot(const ir::Module& module, ir::OpId op) {
  if (module.op(op).operand_count < 2 || module.op(op).result_count == 0) return false;
  return module.kind(op) == ir::OpKind::kRaggedDot || ir::CalledOperation(module, op) == "chlo.ragged_dot";
}

}  // namespace

// As megablox's make_group_metadata counts at most: groups begin anywhere in a block.
double RaggedDot::BlocksOfRows() const { return Blocks(ragged_rows, tiling->m) + static_cast<double>(groups - 1); }

double RaggedDot::Padding() const {
  if (!tiling) return 1;
  const double rows = BlocksOfRows() * static_cast<double>(std::min(ragged_rows, tiling->m)) /
                      static_cast<double>(std::max<int64_t>(ragged_rows, 1));
  // With sums over each group's rows (tgmm) both other dimensions are the result's.
  return rows * Whole(sums_groups ? m : k, tiling->k) * Whole(n, tiling->n);
}

double RaggedDot::KernelBytes(double lhs, double rhs, double out) const {
  if (!tiling) return lhs + rhs + out;
  const double columns = Blocks(n, tiling->n);
  if (sums_groups) return lhs * columns + rhs * Blocks(m, tiling->k) + out;
  // Weights stay where the next block of rows is of the same group and k is one block.
  const bool stay = Blocks(k, tiling->k) <= 1;
  return lhs * columns + rhs * (stay ? 1 : BlocksOfRows() / static_cast<double>(groups)) + out;
}

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
  dot.tiling = numbers.KernelTiling();
  const int64_t left = std::max<int64_t>(lhs.element_count(), 1) / std::max<int64_t>(depth, 1);
  dot.m = std::max<int64_t>(left, 1);
  dot.k = depth;
  if (Holds(contracting, ragged[0])) {
    // Each group sums over its own rows and writes a result of its own.
    dot.multiply_adds /= std::max<int64_t>(dot.groups, 1);
    dot.n = std::max<int64_t>(results / SaturatingMultiply(dot.groups, dot.m), 1);
    dot.k = (depth + dot.groups - 1) / dot.groups;
    dot.sums_groups = true;
    return dot;
  }
  dot.n = std::max<int64_t>(results / dot.m, 1);
  dot.m = (dot.m + dot.groups - 1) / dot.groups;
  return dot;
}

}  // namespace hespas::estimate
