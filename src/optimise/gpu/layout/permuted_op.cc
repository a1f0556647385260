#include "optimise/gpu/layout/permuted_op.h"

#include <fmt/format.h>

#include <algorithm>

#include "ir/attributes/attribute.h"

namespace hespas::optimise {
namespace {

using ir::OpKind;

std::string PaddingText(const ir::IntegerMatrix& padding, const Layout& layout) {
  std::string rows;
  for (size_t i = 0; i < layout.rank(); ++i) {
    const auto row = static_cast<int64_t>(layout[i]);
    rows += fmt::format("{}[{}, {}]", i == 0 ? "" : ", ", padding.at(row, 0), padding.at(row, 1));
  }
  return fmt::format("dense<[{}]> : tensor<{}x2xi64>", rows, padding.rows);
}

// Nothing where the attribute has nothing to do with dimensions; empty where it is not as expected.
std::optional<std::string> Permuted(const Dataflow& flow, const Node& node, const ir::Attribute& attribute,
                                    const Layout& layout) {
  const std::string_view name = flow.source().name(attribute.name);
  if (name == "dimension") {
    const auto dimension = ir::AsInteger(attribute.text);
    return dimension ? fmt::format("{} : i64", layout.Places()[static_cast<size_t>(*dimension)]) : std::string();
  }
  if (name == "padding") {
    const auto padding = ir::AsIntegerMatrix(attribute.text);
    if (!padding || padding->columns != 2 || padding->rows != static_cast<int64_t>(layout.rank())) return std::string();
    return PaddingText(*padding, layout);
  }
  auto values = IntegersOf(flow, node, name);
  if (!values || values->empty()) return std::nullopt;
  if (name == "dimensions") {
    for (int64_t& d : *values) d = layout.Places()[static_cast<size_t>(d)];
    return ArrayText(*values);
  }
  return values->size() == layout.rank() ? ArrayText(InMemory(*values, layout)) : std::string();
}

}  // namespace

bool PermuteOp(const Dataflow& flow, Node& node, const Layout& layout) {
  for (ir::Attribute& attribute : node.attributes) {
    const auto text = Permuted(flow, node, attribute, layout);
    if (!text) continue;
    if (text->empty()) return false;
    attribute = MakeAttribute(flow.source(), std::string(flow.source().name(attribute.name)), *text);
  }
  const size_t arrays = node.kind == OpKind::kDynamicSlice ? 1 : node.kind == OpKind::kDynamicUpdateSlice ? 2 : 0;
  if (arrays == 0) return true;
  if (node.operands.size() != arrays + layout.rank()) return false;
  const std::vector<ValueId> before = node.operands;
  for (size_t i = 0; i < layout.rank(); ++i) node.operands[arrays + i] = before[arrays + layout[i]];
  return true;
}

}  // namespace hespas::optimise
