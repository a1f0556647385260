// Each NPU's own agenda: actions at a time, drained together at the place in the global order that the first of them
// took (spec astra-sim section 2). It decides ties and with them the finish order.
#pragma once

#include <cstdint>
#include <iterator>
#include <vector>

#include "simulate/engine/queue/event_queue.h"

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
  Agenda(EventQueue& queue, uint32_t ranks) : queue_(queue), lists_(ranks), notes_(queue.tracking() ? ranks : 0) {}

  void Schedule(uint32_t rank, uint64_t delay, const Action& action) {
    const uint64_t due = queue_.now() + delay;
    Append(ListAt(rank, due), action);
    if (queue_.tracking()) NoteOrder(notes_[rank], due);
  }

  // Tracking only: two events whose order differs from rank to rank have scheduled for one time.
  bool ambiguous() const { return ambiguous_; }

  // The next action of the list that is due at `rank` now; false when drained, after which the list is gone.
  bool Next(uint32_t rank, Action& action) {
    Lists& lists = lists_[rank];
    Entry& front = lists.first.front;
    if (front.count == 0 && !NextEntry(lists.first)) {
      Drop(lists);
      return false;
    }
    --front.count;
    action = front.action;
    return true;
  }

 private:
  static constexpr uint64_t kNever = ~uint64_t{0};

  // `count` equal actions one after the other.
  struct Entry {
    Action action;
    uint32_t count = 0;
    uint32_t next = kNil;
  };
  struct List {
    uint64_t time = kNever;
    Entry front;           // its `next` is the second entry
    uint32_t tail = kNil;  // the last entry behind `front`
  };
  // The due list stays the first until it is drained.
  struct alignas(64) Lists {
    List first;
    std::vector<List> later;  // in falling order of time
  };
  // Tracking only: the list of which time, when an event last scheduled there, and which.
  struct Note {
    uint64_t due = 0;
    uint64_t time = kNever;
    Track track;
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

  static void Drop(Lists& lists) {
    if (lists.later.empty()) {
      lists.first.time = kNever;
      return;
    }
    lists.first = lists.later.back();
    lists.later.pop_back();
  }

  // Events of one time run in the order of their pushes, so only those pushed at one time can change places.
  void NoteOrder(std::vector<Note>& notes, uint64_t due) {
    const Track& track = queue_.track();
    Note* note = nullptr;
    for (Note& other : notes) {
      if (other.due == due) {
        if (other.time == queue_.now() && other.track.pushed == track.pushed && other.track.order != track.order) {
          ambiguous_ = true;
        }
        other = {due, queue_.now(), track};
        return;
      }
      if (other.due < queue_.now()) note = &other;
    }
    if (note == nullptr) note = &notes.emplace_back();
    *note = {due, queue_.now(), track};
  }

  List& ListAt(uint32_t rank, uint64_t time) {
    Lists& lists = lists_[rank];
    if (lists.first.time == time) return lists.first;
    if (lists.first.time != kNever) return LaterList(rank, time);
    queue_.Push(time, {.kind = EventKind::kAgenda, .a = rank});
    lists.first.time = time;
    return lists.first;
  }

  [[gnu::noinline]] List& LaterList(uint32_t rank, uint64_t time) {
    Lists& lists = lists_[rank];
    std::vector<List>& later = lists.later;
    auto at = later.end();
    while (at != later.begin() && std::prev(at)->time < time) --at;
    if (at != later.begin() && std::prev(at)->time == time) return *std::prev(at);
    queue_.Push(time, {.kind = EventKind::kAgenda, .a = rank});
    if (time > lists.first.time) return *later.insert(at, List{.time = time});
    later.push_back(lists.first);
    lists.first = List{.time = time};
    return lists.first;
  }

  EventQueue& queue_;
  Pool<Entry> entries_;
  std::vector<Lists> lists_;
  std::vector<std::vector<Note>> notes_;  // by rank
  bool ambiguous_ = false;
};

}  // namespace hespas::simulate
