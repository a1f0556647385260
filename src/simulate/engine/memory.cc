#include "simulate/engine/memory.h"

#include <fmt/format.h>

namespace hespas::simulate {

using hardware::MemoryKind;

RemoteMemoryUnits::RemoteMemoryUnits(Core& core) : core_(core) {
  const hardware::RemoteMemory& memory = core.system.memory;
  if (memory.kind == MemoryKind::kPool) units_.resize(1);
  if (memory.kind == MemoryKind::kPerNode) units_.resize((core.ranks - 1) / memory.npus_per_node + 1);
}

uint64_t RemoteMemoryUnits::Ticks(uint64_t bytes) const {
  const hardware::RemoteMemory& memory = core_.system.memory;
  return (memory.latency + static_cast<uint64_t>(static_cast<double>(bytes) / static_cast<double>(memory.bandwidth))) *
         core_.ticks_per_ns;
}

void RemoteMemoryUnits::Access(uint32_t rank, uint32_t index, uint64_t bytes, uint64_t id) {
  const hardware::RemoteMemory& memory = core_.system.memory;
  if (memory.kind == MemoryKind::kNone) {
    core_.Fail(kNotPossible, fmt::format("NPU {}, node {}: the system has no remote memory", rank, id),
               "choose another `memory-type` in the remote memory description");
    return;
  }
  if (memory.kind == MemoryKind::kPerNpu) {
    core_.agenda.Schedule(rank, Ticks(bytes), {ActionKind::kNodeDone, index});
    return;
  }
  const auto unit = memory.kind == MemoryKind::kPool ? 0u : static_cast<uint32_t>(rank / memory.npus_per_node);
  if (units_[unit].busy) {
    units_[unit].waiting.push_back({rank, index, bytes});
  } else {
    Begin(unit, {rank, index, bytes});
  }
}

// The node's own end comes before the next access begins.
void RemoteMemoryUnits::Begin(uint32_t unit, const Request& request) {
  units_[unit].busy = true;
  const uint64_t ticks = Ticks(request.bytes);
  core_.agenda.Schedule(request.rank, ticks, {ActionKind::kNodeDone, request.index});
  core_.agenda.Schedule(request.rank, ticks, {ActionKind::kMemoryFree, unit});
}

void RemoteMemoryUnits::Free(uint32_t index) {
  Unit& unit = units_[index];
  unit.busy = false;
  if (unit.waiting.empty()) return;
  const Request next = unit.waiting.front();
  unit.waiting.pop_front();
  Begin(index, next);
}

}  // namespace hespas::simulate
