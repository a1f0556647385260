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

uint32_t Program::Position(const ir::Module& module, ir::OpId op) {
  uint32_t& at = position[op.index()];
  if (at != kNowhere) return at;
  at = static_cast<uint32_t>(ops.size());
  ops.push_back(op);
  const auto operands = module.operands(op);
  uses_.insert(uses_.end(), operands.begin(), operands.end());
  if (module.op(op).first_region.valid()) {
    if (stamp_.empty()) stamp_.assign(module.value_count(), 0);
    AppendCaptured(module, op, stamp_, ++epoch_, uses_);
  }
  begin_.push_back(uses_.size());
  return at;
}

void Program::Truncate(size_t count) {
  for (size_t i = count; i < ops.size(); ++i) position[ops[i].index()] = kNowhere;
  ops.resize(count);
  uses_.resize(begin_[count]);
  begin_.resize(count + 1);
}

Result<Program> ReadProgram(const ir::Module& module) {
  const ir::OpId main = module.main();
  if (!main.valid()) {
    return MakeError(kNoMain, "no function `main` in the program", {.file = module.path()},
                     "rename the entry function to `main`");
  }
  Program program;
  program.position.assign(module.op_count(), Program::kNowhere);
  const ir::BlockId body = module.body(main);
  if (!body.valid()) return program;
  const auto& ops = module.block(body).ops;
  program.ops.reserve(ops.size());
  program.begin_.reserve(ops.size() + 1);
  for (const ir::OpId op : ops) {
    if (op == ops.back() && ir::IsTerminator(module.kind(op))) {
      program.terminator = op;
    } else {
      program.Position(module, op);
    }
  }
  return program;
}

}  // namespace hespas::split
