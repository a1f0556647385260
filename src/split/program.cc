#include "split/program.h"

#include "ir/walk.h"
#include "split/split.h"

namespace hespas::split {

void AppendCaptured(const ir::Module& module, ir::OpId op, std::vector<uint32_t>& stamp, uint32_t epoch,
                    std::vector<ir::ValueId>& captured) {
  const auto define = [&](auto values) {
    for (const ir::ValueId value : values) stamp[value.index()] = epoch;
  };
  ir::WalkNested(
      module, op, [&](ir::BlockId block) { define(module.arguments(block)); },
      [&](ir::OpId inner) {
        for (const ir::ValueId use : module.operands(inner)) {
          if (!use.valid() || stamp[use.index()] == epoch) continue;
          stamp[use.index()] = epoch;
          captured.push_back(use);
        }
        define(module.results(inner));
      });
}

Result<Program> ReadProgram(const ir::Module& module) {
  const ir::OpId main = module.main();
  if (!main.valid()) {
    return MakeError(kNoMain, "no function `main` in the program", {.file = module.path()},
                     "rename the entry function to `main`");
  }
  Program program;
  const ir::BlockId body = module.body(main);
  if (body.valid()) program.ops = module.block(body).ops;
  if (!program.ops.empty() && ir::IsTerminator(module.kind(program.ops.back()))) {
    program.terminator = program.ops.back();
    program.ops.pop_back();
  }
  program.position.assign(module.op_count(), Program::kNowhere);
  program.begin_.reserve(program.ops.size() + 1);
  std::vector<uint32_t> stamp;
  uint32_t epoch = 0;
  for (size_t i = 0; i < program.ops.size(); ++i) {
    const ir::OpId op = program.ops[i];
    program.position[op.index()] = static_cast<uint32_t>(i);
    program.begin_.push_back(program.uses_.size());
    const auto operands = module.operands(op);
    program.uses_.insert(program.uses_.end(), operands.begin(), operands.end());
    if (!module.op(op).first_region.valid()) continue;
    if (stamp.empty()) stamp.assign(module.value_count(), 0);
    AppendCaptured(module, op, stamp, ++epoch, program.uses_);
  }
  program.begin_.push_back(program.uses_.size());
  return program;
}

}  // namespace hespas::split
