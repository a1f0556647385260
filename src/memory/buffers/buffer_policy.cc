#include "memory/buffers/buffer_policy.h"

#include "ir/facts/execution/scheduled.h"

namespace hespas::memory {
namespace {

constexpr int64_t kMebibyte = int64_t{1} << 20;

// XLA's GemmWorkspaceRewriter.
constexpr int64_t kWorkspace = 4 * kMebibyte;
constexpr int64_t kHopperWorkspace = 32 * kMebibyte;

}  // namespace

BufferPolicy BufferPolicyOf(const ir::Module& module, Compiler compiler, bool ordered) {
  if (compiler == Compiler::kCpu || ir::IsScheduledForCpu(module)) {
    return {.order = ordered ? RunOrder::kOwn : RunOrder::kBreadthFirst,
            .alignment = kCpuAlignment,
            .sees_reshapes = false};
  }
  const bool plans_by_model = compiler == Compiler::kGpuWithModel;
  return {.order = ordered ? RunOrder::kOwn : RunOrder::kLeastMemory,
          .alignment = kGpuAlignment,
          .gemm_workspace = plans_by_model ? kHopperWorkspace : kWorkspace,
          .calls_are_tuples = !ir::IsScheduled(module),
          .plans_by_model = plans_by_model};
}

}  // namespace hespas::memory
