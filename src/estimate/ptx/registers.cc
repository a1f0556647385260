#include "estimate/ptx/registers.h"

#include <algorithm>

namespace hespas::estimate::ptx {
namespace {

using Live = std::vector<bool>;

class Liveness {
 public:
  explicit Liveness(const Kernel& kernel) : kernel_(kernel), before_(kernel.instructions.size() + 1, Live(Width())) {}

  int Most() {
    // Backwards until nothing changes: once more than loops are nested.
    for (bool changed = true; changed;) {
      changed = false;
      for (size_t i = kernel_.instructions.size(); i-- > 0;) changed |= Step(i);
    }
    int most = 0;
    for (const Live& live : before_) most = std::max(most, Size(live));
    return most;
  }

 private:
  size_t Width() const { return kernel_.register_bits.size(); }

  bool Step(size_t i) {
    const Instruction& instruction = kernel_.instructions[i];
    Live live(Width());
    const bool always = instruction.guard < 0;
    const bool leaves = instruction.action == Action::kExit || instruction.action == Action::kBranch;
    if (!leaves || !always) live = before_[i + 1];
    if (instruction.action == Action::kBranch && instruction.target >= 0) {
      const Live& there = before_[static_cast<size_t>(instruction.target)];
      for (size_t r = 0; r < live.size(); ++r) live[r] = live[r] || there[r];
    }
    if (always) {
      for (const int32_t reg : instruction.writes) live[static_cast<size_t>(reg)] = false;
    }
    for (const Operand& operand : instruction.reads) {
      if (operand.kind == Operand::Kind::kRegister) live[static_cast<size_t>(operand.index)] = true;
    }
    if (!always) live[static_cast<size_t>(instruction.guard)] = true;
    if (live == before_[i]) return false;
    before_[i] = std::move(live);
    return true;
  }

  int Size(const Live& live) const {
    int size = 0;
    for (size_t r = 0; r < live.size(); ++r) size += live[r] ? kernel_.register_bits[r] / 32 : 0;
    return size;
  }

  const Kernel& kernel_;
  std::vector<Live> before_;
};

}  // namespace

int LiveRegisters(const Kernel& kernel) { return Liveness(kernel).Most(); }

}  // namespace hespas::estimate::ptx
