#include "memory/regions.h"

#include <utility>

#include "ir/attributes/attribute.h"
#include "ir/walk.h"
#include "memory/buffers/workspace.h"
#include "memory/order/block_order.h"
#include "memory/order/breadth_first.h"

namespace hespas::memory {
namespace {

using ir::OpKind;
using ir::OpSort;

class Regions {
 public:
  Regions(const ir::Module& module, const BufferSizes& sizes, const BufferPolicy& policy, int64_t limit)
      : module_(module), sizes_(sizes), reuse_(module, policy.sees_reshapes), policy_(policy), limit_(limit) {}

  InsideByOp Run() {
    Enter(module_.main());
    while (!stack_.empty()) {
      Frame& top = stack_.back();
      if (top.next < top.holders.size()) {
        const ir::OpId callee = Callee(top.holders[top.next++]);
        if (callee.valid()) Enter(callee);
        continue;
      }
      // Holders are in program order, so the innermost come last.
      const std::vector<ir::OpId> holders = std::move(top.holders);
      const ir::OpId function = top.function;
      stack_.pop_back();
      for (size_t i = holders.size(); i-- > 0;) inside_[holders[i].value] = Of(holders[i]);
      if (function != module_.main()) functions_[function.value] = OfBlock(module_.body(function), ir::OpId());
    }
    return std::move(inside_);
  }

 private:
  struct Frame {
    ir::OpId function;
    std::vector<ir::OpId> holders;  // ops that run regions or functions, those nested in others included
    size_t next = 0;
  };

  static bool Runs(OpSort sort) { return sort == OpSort::kControl || sort == OpSort::kCall; }

  ir::OpId Callee(ir::OpId op) const {
    const std::string_view* text = module_.attribute(op, "callee");
    if (text == nullptr) text = module_.attribute(op, "decomposition");
    return text == nullptr ? ir::OpId() : module_.FindSymbol(ir::AsSymbol(*text));
  }

  void Enter(ir::OpId function) {
    if (!function.valid() || !functions_.try_emplace(function.value).second) return;
    Frame frame{.function = function, .holders = {}};
    ir::WalkNested(module_, function, [&](ir::OpId op) {
      if (Runs(ir::Traits(module_.kind(op)).sort)) frame.holders.push_back(op);
      if (policy_.order == RunOrder::kLeastMemory) AddWorkspace(op);
    });
    stack_.push_back(std::move(frame));
  }

  void AddWorkspace(ir::OpId op) {
    const int64_t bytes = sizes_.Rounded(WorkspaceOf(module_, op, policy_.gemm_workspace));
    if (bytes == 0) return;
    inside_[op.value] = {.bytes = bytes, .held = {{.value = module_.result(op), .bytes = bytes, .workspace = true}}};
  }

  // The arm, or the test or body, that holds most.
  Inside Of(ir::OpId op) {
    if (const ir::OpId callee = Callee(op); callee.valid()) {
      const auto found = functions_.find(callee.value);
      return found == functions_.end() ? Inside{} : found->second;
    }
    const bool loop = module_.kind(op) == OpKind::kWhile;
    Inside most;
    size_t index = 0;
    for (const ir::RegionId region : module_.regions(op)) {
      const bool body = loop && index++ == 1;
      Inside inside = OfBlock(module_.region(region).first_block, body ? op : ir::OpId());
      if (inside.bytes > most.bytes) most = std::move(inside);
    }
    return most;
  }

  Inside OfBlock(ir::BlockId block, ir::OpId loop) {
    if (!block.valid()) return {};
    const auto analyse = [&](const std::vector<ir::OpId>& order) {
      return Analyse(
          module_, {.block = block, .sizes = sizes_, .policy = policy_, .reuse = reuse_, .order = order, .loop = loop},
          inside_);
    };
    const auto [order, liveness] = OrderAndAnalyse(block, analyse);
    Inside out{.bytes = liveness.bytes[liveness.peak], .held = HeldAt(liveness, liveness.peak)};
    if (liveness.peak < order.size()) {
      const auto nested = inside_.find(order[liveness.peak].value);
      if (nested != inside_.end()) {
        out.held.insert(out.held.end(), nested->second.held.begin(), nested->second.held.end());
      }
    }
    return out;
  }

  Ordered OrderAndAnalyse(ir::BlockId block, const AnalyseOrder& analyse) const {
    if (policy_.order == RunOrder::kLeastMemory) {
      return OrderOf(module_,
                     {.block = block, .sizes = sizes_, .plans_by_model = policy_.plans_by_model, .limit = limit_},
                     analyse);
    }
    Ordered out;
    out.order = policy_.order == RunOrder::kBreadthFirst ? BreadthFirst(module_, block) : OwnOrder(module_, block);
    out.liveness = analyse(out.order);
    return out;
  }

  const ir::Module& module_;
  const BufferSizes& sizes_;
  InPlaceReuse reuse_;
  const BufferPolicy& policy_;
  int64_t limit_;
  InsideByOp inside_;
  std::unordered_map<uint32_t, Inside> functions_;
  std::vector<Frame> stack_;
};

}  // namespace

InsideByOp InsidesOf(const ir::Module& module, const BufferSizes& sizes, const BufferPolicy& policy, int64_t limit) {
  return Regions(module, sizes, policy, limit).Run();
}

}  // namespace hespas::memory
