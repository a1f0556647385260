#include "graph/flat_tuples.h"

#include <fmt/format.h>

namespace hespas::graph {
namespace {

void AppendTypes(const ir::TypeTable& types, ir::TypeId type, std::vector<ir::TypeId>& flat) {
  if (types[type].kind != ir::TypeKind::kTuple) return flat.push_back(type);
  for (const ir::TypeId member : types[type].nested) AppendTypes(types, member, flat);
}

void Take(ir::Module& module, ir::BlockId block, ir::ValueId value, std::vector<ir::ValueId>& flat) {
  if (module.type(value).kind != ir::TypeKind::kTuple) return flat.push_back(value);
  const std::vector<ir::TypeId> members = module.type(value).nested;
  for (size_t i = 0; i < members.size(); ++i) {
    const ir::ValueId operands[] = {value};
    const ir::TypeId types[] = {members[i]};
    const ir::Attribute attributes[] = {{module.InternName("index"), module.Keep(fmt::format("{} : i32", i))}};
    const ir::OpId member = module.AddOp(block, {.name = module.InternName("stablehlo.get_tuple_element"),
                                                 .operands = operands,
                                                 .result_types = types,
                                                 .attributes = attributes});
    Take(module, block, module.result(member), flat);
  }
}

}  // namespace

std::vector<ir::TypeId> FlatTypes(const ir::TypeTable& types, std::span<const ir::TypeId> tuples) {
  std::vector<ir::TypeId> flat;
  for (const ir::TypeId type : tuples) AppendTypes(types, type, flat);
  return flat;
}

ir::ValueId JoinFlat(ir::Module& module, ir::BlockId block, ir::TypeId type, size_t& next) {
  if (module.types()[type].kind != ir::TypeKind::kTuple) return module.arguments(block)[next++];
  std::vector<ir::ValueId> members;
  for (const ir::TypeId member : module.types()[type].nested) members.push_back(JoinFlat(module, block, member, next));
  const ir::TypeId types[] = {type};
  return module.result(
      module.AddOp(block, {.name = module.InternName("stablehlo.tuple"), .operands = members, .result_types = types}));
}

std::vector<ir::ValueId> TakeFlat(ir::Module& module, ir::BlockId block, std::span<const ir::ValueId> values) {
  std::vector<ir::ValueId> flat;
  for (const ir::ValueId value : values) Take(module, block, value, flat);
  return flat;
}

}  // namespace hespas::graph
