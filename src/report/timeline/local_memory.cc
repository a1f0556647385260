#include "report/timeline/local_memory.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/text/json.h"

namespace hespas::report {
namespace {

using nlohmann::ordered_json;

constexpr uint64_t kNever = ~uint64_t{0};

// Rows of the picture.
enum Thread : int { kReads = 1, kWrites = 2, kLifetimes = 3 };

struct Life {
  uint64_t bytes = 0;
  uint64_t written = kNever;  // first
  uint64_t read = kNever;     // first
  uint64_t to = 0;
  uint64_t from() const { return written <= read ? written : 0; }
};

double Microseconds(uint64_t ticks) { return static_cast<double>(ticks) / 1000; }

ordered_json Stretch(std::string_view name, uint32_t rank, Thread thread, uint64_t from, uint64_t to, uint64_t bytes) {
  return {{"name", name},
          {"ph", "X"},
          {"pid", rank},
          {"tid", static_cast<int>(thread)},
          {"ts", Microseconds(from)},
          {"dur", Microseconds(to - from)},
          {"args", {{"bytes", bytes}}}};
}

std::map<std::string, Life> LivesOf(std::span<const TensorUse> uses) {
  std::map<std::string, Life> lives;
  for (const TensorUse& use : uses) {
    Life& life = lives[use.name];
    uint64_t& first = use.written ? life.written : life.read;
    first = std::min(first, use.by.start);
    life.to = std::max(life.to, use.by.end);
    life.bytes = std::max(life.bytes, use.bytes);
  }
  return lives;
}

}  // namespace

LocalMemory TraceLocalMemory(uint32_t rank, std::span<const TensorUse> uses) {
  LocalMemory memory;
  ordered_json events = ordered_json::array();
  for (const TensorUse& use : uses) {
    events.push_back(Stretch(use.name, rank, use.written ? kWrites : kReads, use.by.start, use.by.end, use.bytes));
  }
  std::map<uint64_t, int64_t> changes;  // of bytes, by time
  for (const auto& [name, life] : LivesOf(uses)) {
    events.push_back(Stretch(name, rank, kLifetimes, life.from(), life.to, life.bytes));
    changes[life.from()] += static_cast<int64_t>(life.bytes);
    changes[life.to] -= static_cast<int64_t>(life.bytes);
  }
  int64_t held = 0;
  for (const auto& [time, change] : changes) {
    held += change;
    memory.peak = std::max(memory.peak, static_cast<uint64_t>(held));
    events.push_back({{"name", "memory"},
                      {"ph", "C"},
                      {"pid", rank},
                      {"ts", Microseconds(time)},
                      {"args", {{"MiB", static_cast<double>(held) / (1 << 20)}}}});
  }
  memory.json = JsonText(ordered_json{{"traceEvents", events}}) + "\n";
  return memory;
}

}  // namespace hespas::report
