// The ops of `main` with what each of them uses, nested captures included.
#pragma once

#include <span>
#include <vector>

#include "base/result.h"
#include "ir/module.h"

namespace hespas::split {

struct Program {
  std::vector<ir::OpId> ops;       // program order, without the terminator
  ir::OpId terminator;             // invalid where `main` lacks one
  std::vector<uint32_t> position;  // of an op in `ops`, by op id; kNowhere for those that are not

  static constexpr uint32_t kNowhere = 0xFFFFFFFFu;

  // Operands in order, then captured values in order of first use.
  std::span<const ir::ValueId> uses(size_t i) const { return {uses_.data() + begin_[i], begin_[i + 1] - begin_[i]}; }
  // Where in `ops` the value is made; kNowhere for arguments of `main`.
  uint32_t producer(const ir::Module& module, ir::ValueId value) const {
    const ir::OpId op = module.defining_op(value);
    return op.valid() ? position[op.index()] : kNowhere;
  }

  // Where `op` is in `ops`; appended if it was not there.
  uint32_t Position(const ir::Module& module, ir::OpId op);
  // Drops the ops behind the first `count`.
  void Truncate(size_t count);

  std::vector<ir::ValueId> uses_;
  std::vector<size_t> begin_ = {0};
  std::vector<uint32_t> stamp_;  // scratch, by value
  uint32_t epoch_ = 0;
};

Result<Program> ReadProgram(const ir::Module& module);

// Values that the regions of `op` use but do not define, in order of first use, appended to `captured`.
// `stamp` is scratch, one entry per value of the module, holding numbers below `epoch`.
void AppendCaptured(const ir::Module& module, ir::OpId op, std::vector<uint32_t>& stamp, uint32_t epoch,
                    std::vector<ir::ValueId>& captured);

}  // namespace hespas::split
