#include "memory/order/within_limit.h"

#include <algorithm>

#include "memory/order/block_dag.h"
#include "optimise/schedule/held_memory.h"

namespace hespas::memory {
namespace {

// An order from its end, without what has its place already.
class Backwards {
 public:
  explicit Backwards(std::vector<uint32_t> order) : order_(std::move(order)) {}

  // All that reads what it makes has its place, as the order is one that can run.
  uint32_t Last(const std::vector<bool>& placed) {
    while (placed[order_.back()]) order_.pop_back();
    return order_.back();
  }

 private:
  std::vector<uint32_t> order_;
};

}  // namespace

std::vector<ir::OpId> WithinLimit(const ir::Module& module, ir::BlockId block, const BufferSizes& sizes,
                                  std::span<const ir::OpId> wanted, std::span<const ir::OpId> least, int64_t limit) {
  const BlockDag graph(module, block, sizes);
  optimise::HeldMemory held(graph.dag(), limit);
  Backwards from_wanted(graph.NumbersOf(wanted));
  Backwards from_least(graph.NumbersOf(least));
  std::vector<bool> placed(graph.dag().size(), false);
  std::vector<uint32_t> order;
  while (order.size() < placed.size()) {
    uint32_t op = from_wanted.Last(placed);
    if (!held.HasRoomFor(op)) op = from_least.Last(placed);
    placed[op] = true;
    held.Place(op);
    order.push_back(op);
  }
  std::reverse(order.begin(), order.end());
  return graph.OpsIn(order);
}

}  // namespace hespas::memory
