#include "read/hlo/async_types.h"

namespace hespas::read::hlo {
namespace {

std::vector<ir::TypeId> Part(const ShapeTable& shapes, ShapeId shape, size_t child) {
  const auto of = shapes.leaves(shapes.child(shape, child));
  return {of.begin(), of.end()};
}

ir::TypeId TupleOf(ir::TypeTable& types, const std::vector<ir::TypeId>& members) {
  ir::Type type;
  type.kind = ir::TypeKind::kTuple;
  type.nested = members;
  return types.Intern(std::move(type));
}

}  // namespace

std::vector<ir::TypeId> ResultOfStart(const ShapeTable& shapes, ShapeId start, std::string_view op) {
  const Shape& shape = shapes[start];
  if (!shape.is_tuple || shape.child_count < 2 || op == "all-reduce") {
    const auto all = shapes.leaves(start);
    return {all.begin(), all.end()};
  }
  if (op == "copy") return Part(shapes, start, 0);
  if (op == "send") return Part(shapes, start, shape.child_count - 1);
  if (op == "recv") {
    std::vector<ir::TypeId> both = Part(shapes, start, 0);
    for (const ir::TypeId token : Part(shapes, start, shape.child_count - 1)) both.push_back(token);
    return both;
  }
  return Part(shapes, start, 1);
}

ir::TypeId BundleType(ir::TypeTable& types, const std::vector<ir::TypeId>& operands,
                      const std::vector<ir::TypeId>& results) {
  const ir::TypeId inputs = TupleOf(types, operands);
  const ir::TypeId output = results.size() == 1 ? results[0] : TupleOf(types, results);
  ir::Type type;
  type.kind = ir::TypeKind::kAsyncBundle;
  type.nested = {inputs, output};
  return types.Intern(std::move(type));
}

}  // namespace hespas::read::hlo
