#include "estimate/calibrated/command_buffers.h"

#include <vector>

#include "ir/facts/execution/async_start.h"
#include "ir/facts/execution/trip_count.h"
#include "ir/facts/library_call.h"
#include "ir/op_kind.h"

namespace hespas::estimate::calibrated {
namespace {

using ir::OpKind;
using ir::OpSort;

constexpr int kLeastCommands = 5;  // XLA: xla_gpu_graph_min_graph_size

enum class Launch : uint8_t { kNone, kMatmul, kKernel, kEnd };

Launch LaunchOfCall(const ir::Module& module, ir::OpId op) {
  switch (ir::LibraryKindOf(module, op).value_or(ir::LibraryKind::kOther)) {
    case ir::LibraryKind::kGemm:
      return Launch::kMatmul;
    case ir::LibraryKind::kAttention:
    case ir::LibraryKind::kNorm:
    case ir::LibraryKind::kTriton:
      return Launch::kKernel;
    case ir::LibraryKind::kConvolution:
    case ir::LibraryKind::kOther:
      break;
  }
  return Launch::kEnd;
}

// A kernel that is started beside others stays in the run, with its end; a collective ends it, twice.
Launch LaunchOfAsync(const ir::Module& module, ir::OpId op) {
  if (module.kind(op) == OpKind::kAsyncStart)
    return ir::CollectiveInside(module, op).valid() ? Launch::kEnd : Launch::kKernel;
  ir::OpId start = op;
  while (start.valid() && module.kind(start) != OpKind::kAsyncStart) {
    const auto operands = module.operands(start);
    start = operands.empty() ? ir::OpId() : module.defining_op(operands[0]);
  }
  return !start.valid() || ir::CollectiveInside(module, start).valid() ? Launch::kEnd : Launch::kNone;
}

Launch LaunchOf(const ir::Module& module, ir::OpId op) {
  const OpKind kind = module.kind(op);
  if (kind == OpKind::kConvolution || kind == OpKind::kDynamicConv) return Launch::kEnd;
  if (kind == OpKind::kReshape || kind == OpKind::kBitcast) return Launch::kNone;
  switch (ir::Traits(kind).sort) {
    case OpSort::kConstant:
    case OpSort::kFree:
    case OpSort::kTerminator:
    case OpSort::kStructure:
      return Launch::kNone;
    case OpSort::kContraction:
      return Launch::kMatmul;
    case OpSort::kCustomCall:
      return LaunchOfCall(module, op);
    case OpSort::kAsync:
      return LaunchOfAsync(module, op);
    case OpSort::kCollective:
    case OpSort::kTransfer:
    case OpSort::kControl:
    case OpSort::kCall:   // inlined by then
    case OpSort::kOther:  // transforms and factorisations: libraries
      return Launch::kEnd;
    default:
      return Launch::kKernel;
  }
}

struct Body {
  ir::BlockId block;
  double times = 1;
};

class Counter {
 public:
  explicit Counter(const ir::Module& module) : module_(module) {}

  CommandBuffers Count() {
    if (const ir::OpId main = module_.main(); main.valid()) open_.push_back({.block = module_.body(main)});
    while (!open_.empty()) {
      const Body body = open_.back();
      open_.pop_back();
      if (body.block.valid()) CountBody(body);
    }
    if (all_ <= 0) return {};
    return {.in_graph = graph_ / all_};
  }

 private:
  void CountBody(const Body& body) {
    int run = 0;
    double kernels = 0;
    const auto end = [&] {
      if (run >= kLeastCommands) graph_ += body.times * kernels;
      all_ += body.times * kernels;
      run = 0;
      kernels = 0;
    };
    for (const ir::OpId op : module_.block(body.block).ops) {
      const Launch launch = LaunchOf(module_, op);
      if (launch == Launch::kNone) continue;
      if (launch == Launch::kEnd) {
        end();
        Open(op, body.times);
        continue;
      }
      ++run;
      if (launch == Launch::kKernel) ++kernels;
    }
    end();
  }

  // The regions of a loop or branch; all arms of a branch, as any may run.
  void Open(ir::OpId op, double times) {
    if (ir::Traits(module_.kind(op)).sort != OpSort::kControl) return;
    const bool loop = module_.kind(op) == OpKind::kWhile;
    if (loop) times *= static_cast<double>(ir::TripCount(module_, op).value_or(1));
    bool skip = loop && !ir::TestsEachIteration(module_, op);  // the condition
    for (ir::RegionId region = module_.op(op).first_region; region.valid(); region = module_.region(region).next) {
      if (!skip) open_.push_back({.block = module_.region(region).first_block, .times = times});
      skip = false;
    }
  }

  const ir::Module& module_;
  std::vector<Body> open_;
  double all_ = 0;
  double graph_ = 0;
};

}  // namespace

CommandBuffers CommandBuffersOf(const ir::Module& module) { return Counter(module).Count(); }

double BetweenUs(const StreamConstants& stream, const CommandBuffers& buffers) {
  return stream.launch_us + buffers.in_graph * (stream.graph_us - stream.launch_us);
}

}  // namespace hespas::estimate::calibrated
