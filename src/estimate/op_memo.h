// One value for each op of a module, made when it is first asked for; from any number of threads.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "ir/ids.h"

namespace hespas::estimate {

template <class Value>
class OpMemo {
 public:
  explicit OpMemo(size_t ops) : slots_(ops) {}
  OpMemo(const OpMemo&) = delete;
  OpMemo& operator=(const OpMemo&) = delete;
  ~OpMemo() {
    for (const auto& slot : slots_) delete slot.load();
  }

  // `make` must give equal values for equal ops: of two that run at once, either result is kept.
  template <class Make>
  const Value& Of(ir::OpId op, const Make& make) const {
    std::atomic<const Value*>& slot = slots_[op.index()];
    if (const Value* known = slot.load(std::memory_order_acquire)) return *known;
    auto made = std::make_unique<const Value>(make());
    const Value* expected = nullptr;
    if (slot.compare_exchange_strong(expected, made.get(), std::memory_order_acq_rel)) return *made.release();
    return *expected;
  }

 private:
  mutable std::vector<std::atomic<const Value*>> slots_;
};

}  // namespace hespas::estimate
