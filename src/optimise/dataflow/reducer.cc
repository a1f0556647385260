#include "optimise/dataflow/reducer.h"

#include <algorithm>

#include "optimise/dataflow/dataflow.h"

namespace hespas::optimise {

using ir::OpKind;

ir::OpKind ReducerKind(const ir::Module& source, ir::OpId origin) {
  const ir::BlockId body = origin.valid() ? source.body(origin) : ir::BlockId();
  if (!body.valid() || source.block(body).ops.size() != 2 || source.block(body).argument_count != 2) {
    return OpKind::kUnknown;
  }
  const ir::OpId combine = source.block(body).ops[0];
  const ir::OpId end = source.block(body).ops[1];
  const auto operands = source.operands(combine);
  const auto arguments = source.arguments(body);
  const bool plain = source.op(combine).operand_count == 2 && source.op(combine).result_count == 1 &&
                     source.op(end).operand_count == 1 && source.operands(end)[0] == source.result(combine) &&
                     operands[0] == arguments[0] && operands[1] == arguments[1];
  return plain ? source.kind(combine) : OpKind::kUnknown;
}

ir::OpId ReducerFor(ir::Module& source, ir::OpId origin, ir::TypeId like) {
  if (ReducerKind(source, origin) == OpKind::kUnknown) return ir::OpId();
  const ir::BlockId body = source.body(origin);
  const ir::OpId combine = source.block(body).ops[0];
  const ir::OpId end = source.block(body).ops[1];
  const ir::TypeId scalar = TensorLike(source, like, {});
  const ir::BlockId block = source.AddBlock(std::vector<ir::TypeId>{scalar, scalar});
  const std::vector<ir::ValueId> arguments{source.arguments(block)[0], source.arguments(block)[1]};
  const std::vector<ir::TypeId> types{scalar};
  const ir::OpId sum =
      source.AddOp(block, {.name = source.op(combine).name, .operands = arguments, .result_types = types});
  const std::vector<ir::ValueId> results{source.result(sum)};
  source.AddOp(block, {.name = source.op(end).name, .operands = results});
  const std::vector<ir::RegionId> regions{source.AddRegion(std::vector<ir::BlockId>{block})};
  return source.AddOp(source.AddBlock({}), {.name = source.op(origin).name, .regions = regions});
}

ir::OpId RegionHolder(ir::Module& source, std::string_view name, ir::RegionId region) {
  const std::vector<ir::RegionId> regions{region};
  return source.AddOp(source.AddBlock({}), {.name = source.InternName(name), .regions = regions});
}

ir::TypeId ScalarType(ir::Module& source, std::string_view element) {
  ir::Type type;
  type.kind = ir::TypeKind::kTensor;
  type.element = *ir::ElementFromText(element);
  return source.types().Intern(std::move(type));
}

}  // namespace hespas::optimise
