#include "estimate/profile/program_text.h"

#include <fmt/format.h>

#include "base/system/file.h"
#include "estimate/profile/ragged_matmuls.h"
#include "graph/block_module.h"
#include "ir/facts/library_call.h"
#include "ir/op_kind.h"
#include "ir/printer.h"
#include "ir/walk.h"

namespace hespas::estimate {
namespace {

Error Refuse(std::string why) { return MakeError(kNotProfilable, std::move(why)); }

// Custom calls that every compiler of StableHLO knows, or that mean nothing on one device.
bool IsPortable(std::string_view target) {
  return target == "Sharding" || target == "SPMDFullToShardShape" || target == "SPMDShardToFullShape" ||
         target == "TopK";
}

Status CheckOp(const ir::Module& module, ir::OpId op, bool whole) {
  const ir::OpKind kind = module.kind(op);
  const ir::OpSort sort = ir::Traits(kind).sort;
  if (sort == ir::OpSort::kTransfer || sort == ir::OpSort::kAsync) {
    return Refuse(fmt::format("`{}` does not run on its own", module.name(op)));
  }
  if (!whole && sort == ir::OpSort::kCollective) return Refuse(fmt::format("`{}` communicates", module.name(op)));
  if (sort != ir::OpSort::kCustomCall) return {};
  const std::string target = ir::CallTarget(module, op);
  if (IsPortable(target) || !ir::CalledOperation(module, op).empty()) return {};
  return Refuse(fmt::format("custom call `{}` belongs to a library", target));
}

Result<ProgramArgument> ArgumentOf(const ir::Module& module, ir::ValueId value) {
  const ir::Type& type = module.type(value);
  if (!type.is_tensor() || !type.has_static_shape()) {
    return Refuse(fmt::format("an argument of type {} has no values", module.types().Text(module.type_id(value))));
  }
  return ProgramArgument{.element = ir::ElementText(type.element), .shape = type.dims};
}

}  // namespace

Result<BlockProgram> WriteBlockProgram(const ir::Module& module, const graph::Block& block, const std::string& path,
                                       bool whole) {
  ir::Module program = graph::BlockModule(module, block, graph::Form::kPortable);
  ExpandRaggedMatmuls(program);
  Status good;
  const auto check = [&](ir::OpId op) {
    if (good) good = CheckOp(program, op, whole);
  };
  ir::WalkNested(program, program.root(), check);
  if (!good) return good.error();
  BlockProgram out{.path = path, .arguments = {}};
  for (const ir::ValueId value : program.arguments(program.body(program.main()))) {
    auto argument = ArgumentOf(program, value);
    if (!argument) return argument.error();
    out.arguments.push_back(*std::move(argument));
  }
  if (const Status written = WriteFileAtomically(path, ir::PrintGeneric(program)); !written) return written.error();
  return out;
}

}  // namespace hespas::estimate
