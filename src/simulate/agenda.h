// Each NPU's own agenda: actions at a time, drained together at the place in the global order that the first of them
// took (spec astra-sim section 2). It decides ties and with them the finish order.
#pragma once

#include <cstdint>
#include <vector>

#include "simulate/event_queue.h"

namespace hespas::simulate {

enum class ActionKind : uint8_t {
  kEndpointDone,   // a: stream; delay: reduction to follow
  kGeneral,        // a: stream
  kNodeDone,       // a: node of the NPU's program
  kGraphNodeDone,  // a: stream, b: node of its collective graph
  kMemoryFree,     // a: memory unit
  kBus,            // a: bus request
};

inline constexpr uint64_t kNoReduction = ~uint64_t{0};

struct Action {
  ActionKind kind = ActionKind::kGeneral;
  uint32_t a = 0;
  uint32_t b = 0;
  uint64_t delay = 0;
  bool operator==(const Action&) const = default;
};

class Agenda {
 public:
  Agenda(EventQueue& queue, uint32_t ranks) : queue_(queue), lists_(ranks) {}

  void Schedule(uint32_t rank, uint64_t delay, const Action& action) {
    List& list = ListAt(rank, queue_.now() + delay);
    Append(list, action);
    if (queue_.tracking()) NoteOrder(list);
  }

  // Tracking only: two events whose order differs from rank to rank have scheduled for one time.
  bool ambiguous() const { return ambiguous_; }

  // The next action of the list that is due at `rank` now; false when drained, after which the list is gone.
  bool Next(uint32_t rank, Action& action) {
    Lists& lists = lists_[rank];
    List& due = lists.items[lists.first];
    if (due.front.count == 0 && !NextEntry(due)) {
      if (++lists.first == lists.items.size()) {
        lists.items.clear();
        lists.first = 0;
      }
      return false;
    }
    --due.front.count;
    action = due.front.action;
    return true;
  }

 private:
  // `count` equal actions one after the other.
  struct Entry {
    Action action;
    uint32_t count = 0;
    uint32_t next = kNil;
  };
  struct List {
    uint64_t time = 0;
    Entry front;                    // its `next` is the second entry
    uint32_t tail = kNil;           // the last entry behind `front`
    uint64_t noted = ~uint64_t{0};  // when the last event scheduled here, and which
    Track noted_track;
  };
  struct Lists {
    std::vector<List> items;  // from `first` on in order of time; the due list stays until it is drained
    size_t first = 0;
  };

  void Append(List& list, const Action& action) {
    Entry& last = list.tail == kNil ? list.front : entries_[list.tail];
    if (last.count > 0 && last.action == action) {
      ++last.count;
    } else if (list.front.count == 0 && list.tail == kNil) {
      list.front.action = action;
      list.front.count = 1;
    } else {
      const uint32_t index = entries_.Take({action, 1, kNil});
      (list.tail == kNil ? list.front : entries_[list.tail]).next = index;
      list.tail = index;
    }
  }

  bool NextEntry(List& list) {
    const uint32_t index = list.front.next;
    if (index == kNil) return false;
    list.front = entries_[index];
    if (list.tail == index) list.tail = kNil;
    entries_.Release(index);
    return true;
  }

  // Events of one time run in the order of their pushes, so only those pushed at one time can change places.
  void NoteOrder(List& list) {
    const Track& track = queue_.track();
    if (list.noted == queue_.now() && list.noted_track.pushed == track.pushed &&
        list.noted_track.order != track.order) {
      ambiguous_ = true;
    }
    list.noted = queue_.now();
    list.noted_track = track;
  }

  List& ListAt(uint32_t rank, uint64_t time) {
    Lists& lists = lists_[rank];
    std::vector<List>& items = lists.items;
    size_t at = items.size();
    while (at > lists.first && items[at - 1].time > time) --at;
    if (at > lists.first && items[at - 1].time == time) return items[at - 1];
    queue_.Push(time, {.kind = EventKind::kAgenda, .a = rank});
    if (at == items.size() && lists.first <= 64) {
      items.emplace_back();
      items.back().time = time;
      return items.back();
    }
    return Insert(lists, at, time);
  }

  List& Insert(Lists& lists, size_t at, uint64_t time);

  EventQueue& queue_;
  Pool<Entry> entries_;
  std::vector<Lists> lists_;
  bool ambiguous_ = false;
};

// Not at the end, or behind many drained lists, which then go.
inline Agenda::List& Agenda::Insert(Lists& lists, size_t at, uint64_t time) {
  std::vector<List>& items = lists.items;
  if (at == lists.first && at > 0) {
    items[--lists.first] = List{.time = time};
    return items[lists.first];
  }
  if (lists.first > 64 && 2 * lists.first > items.size()) {
    items.erase(items.begin(), items.begin() + static_cast<std::ptrdiff_t>(lists.first));
    at -= lists.first;
    lists.first = 0;
  }
  return *items.insert(items.begin() + static_cast<std::ptrdiff_t>(at), List{.time = time});
}

}  // namespace hespas::simulate
