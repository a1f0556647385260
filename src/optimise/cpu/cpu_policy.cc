#include "optimise/cpu/cpu_policy.h"

namespace hespas::optimise {
namespace {

// Its loops are formed by a pass of their own (cpu_fusion.cc).
class Cpu final : public CompilerPolicy {
 public:
  bool OrdersDotOperands() const override { return true; }
  bool RoundsEachOp() const override { return true; }
};

}  // namespace

const CompilerPolicy& CpuPolicy() {
  static const Cpu policy;
  return policy;
}

}  // namespace hespas::optimise
