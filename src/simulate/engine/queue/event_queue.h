// The global event queue: events in order of (time, insertion), strictly first in, first out among equal times.
//
// - One first-in-first-out list a distinct time; a heap orders the times. Symmetric runs have few distinct times, so a
//   push or pop is a hash look-up and a list step.
// - Events pushed for the current time run in the same pass.
// - A tracking queue also keeps for each event when it was pushed and its order among all ranks (order_trace.h).
// - A lent-out queue hands every event to somebody else's clock (message_engine.h).
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <vector>

#include "simulate/engine/queue/callback.h"
#include "simulate/engine/queue/pool.h"

namespace hespas::simulate {

enum class EventKind : uint8_t { kAgenda, kStep, kArrive, kLinkFree, kCallback };

struct Event {
  EventKind kind = EventKind::kAgenda;
  CallbackKind callback = CallbackKind::kNone;
  uint32_t a = 0;
  uint32_t b = 0;
  uint32_t tag = 0;  // kStep: a message from a to b, `steps` on in the sender's ring
  uint64_t size = 0;
  uint32_t steps = 0;
  uint32_t next = kNil;  // of the queue
};

// Where an event of a tracking queue comes from.
struct Track {
  uint64_t pushed = 0;  // time
  uint32_t order = 0;   // among all ranks
};

// Whose clock a lent-out queue uses.
class EventClock {
 public:
  virtual ~EventClock() = default;
  virtual uint64_t Now() const = 0;
  virtual void Schedule(uint64_t time, const Event& event) = 0;
};

class EventQueue {
 public:
  explicit EventQueue(bool tracking) : table_(kFirstTable), tracking_(tracking) {}

  // From now on every event goes to `clock`, which runs it.
  void LendTo(EventClock& clock) { clock_ = &clock; }
  // Lent out: the time of the event that runs.
  void SetNow(uint64_t now) { now_ = now; }

  bool tracking() const { return tracking_; }
  const Track& track() const { return track_; }  // of the event that runs
  // The rest of the event belongs to another order.
  void SetOrder(uint32_t order) { track_.order = order; }

  uint64_t now() const { return now_; }
  uint64_t popped() const { return popped_; }

  [[gnu::always_inline]] void Push(uint64_t time, const Event& event) { Push(time, event, track_.order); }
  // Inlined and field by field: a wide copy of fields just written would stall on store forwarding.
  [[gnu::always_inline]] void Push(uint64_t time, const Event& event, uint32_t order) {
    if (clock_ != nullptr) [[unlikely]]
      return clock_->Schedule(time, event);
    const uint32_t index = nodes_.Take();
    Event& node = nodes_[index];
    node.kind = event.kind;
    node.callback = event.callback;
    node.a = event.a;
    node.b = event.b;
    node.tag = event.tag;
    node.size = event.size;
    node.steps = event.steps;
    node.next = kNil;
    if (tracking_) NoteTrack(index, order);
    List& list = time == now_ && running_ ? current_ : ListAt(time);
    if (list.tail == kNil) {
      list.head = index;
    } else {
      nodes_[list.tail].next = index;
    }
    list.tail = index;
  }

  // The next event; false when none is left. Moves `now` on.
  bool Pop(Event& event) {
    if (current_.head == kNil && !NextTime()) return false;
    const uint32_t index = current_.head;
    event = nodes_[index];
    current_.head = event.next;
    if (current_.head == kNil) current_.tail = kNil;
    if (tracking_) track_ = tracks_[index];
    nodes_.Release(index);
    ++popped_;
    return true;
  }

 private:
  static constexpr size_t kFirstTable = 256;

  struct List {
    uint64_t time = 0;
    uint32_t head = kNil;
    uint32_t tail = kNil;
  };

  void NoteTrack(uint32_t index, uint32_t order) {
    if (index >= tracks_.size()) tracks_.resize(index + 1);
    tracks_[index] = {now_, order};
  }

  size_t Slot(uint64_t time) const { return (time * 0x9E3779B97F4A7C15ull >> 20) & (table_.size() - 1); }

  // Open addressing with linear probing; a slot is in use when its list has a head.
  List& ListAt(uint64_t time) {
    size_t slot = Slot(time);
    if (table_[slot].time == time && table_[slot].head != kNil) [[likely]]
      return table_[slot];
    return Probe(time, slot);
  }

  [[gnu::noinline]] List& Probe(uint64_t time, size_t slot) {
    for (; table_[slot].head != kNil; slot = (slot + 1) & (table_.size() - 1)) {
      if (table_[slot].time == time) return table_[slot];
    }
    if (2 * times_.size() >= table_.size()) {
      Grow();
      return ListAt(time);
    }
    times_.push_back(time);
    std::push_heap(times_.begin(), times_.end(), std::greater<>());
    table_[slot].time = time;
    return table_[slot];
  }

  bool NextTime() {
    if (times_.empty()) return false;
    std::pop_heap(times_.begin(), times_.end(), std::greater<>());
    now_ = times_.back();
    times_.pop_back();
    running_ = true;
    size_t slot = Slot(now_);
    while (table_[slot].time != now_ || table_[slot].head == kNil) slot = (slot + 1) & (table_.size() - 1);
    current_ = table_[slot];
    Remove(slot);
    return true;
  }

  // Backward-shift deletion keeps probe runs free of holes.
  void Remove(size_t hole) {
    const size_t mask = table_.size() - 1;
    for (size_t slot = (hole + 1) & mask; table_[slot].head != kNil; slot = (slot + 1) & mask) {
      if (((slot - Slot(table_[slot].time)) & mask) < ((slot - hole) & mask)) continue;
      table_[hole] = table_[slot];
      hole = slot;
    }
    table_[hole] = List{};
  }

  void Grow() {
    std::vector<List> old(table_.size() * 2);
    old.swap(table_);
    for (const List& list : old) {
      if (list.head == kNil) continue;
      size_t slot = Slot(list.time);
      while (table_[slot].head != kNil) slot = (slot + 1) & (table_.size() - 1);
      table_[slot] = list;
    }
  }

  Pool<Event> nodes_;
  std::vector<List> table_;
  std::vector<uint64_t> times_;  // heap of the distinct times in table_
  List current_;
  uint64_t now_ = 0;
  uint64_t popped_ = 0;
  bool running_ = false;
  bool tracking_;
  EventClock* clock_ = nullptr;
  std::vector<Track> tracks_;  // by node
  Track track_;
};

}  // namespace hespas::simulate
