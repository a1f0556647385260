// What all parts of the event engine share: the clock, the agendas, the system, and the first failure.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "simulate/engine/match_key.h"
#include "simulate/engine/order_trace.h"
#include "simulate/engine/queue/agenda.h"
#include "simulate/engine/queue/event_queue.h"
#include "simulate/simulate.h"

namespace hespas::simulate {

// Takes messages on their way in the place of the built-in transport (message_engine.h).
class MessageCarrier {
 public:
  virtual ~MessageCarrier() = default;
  // An event kArrive of `message` follows.
  virtual void Carry(const MatchKey& key, uint32_t message) = 0;
  virtual bool IsLocal(uint32_t rank) const = 0;
};

struct Core {
  // With `rank_classes` the first rank of each class represents all of it: what it sends to another comes to the first
  // rank of that one's class.
  Core(const hardware::System& the_system, const SimulateOptions& the_options, const EquivalentRanks* rank_classes)
      : system(the_system),
        options(the_options),
        ticks_per_ns(the_options.resolution == Resolution::kPicosecond ? 1000 : 1),
        ranks(static_cast<uint32_t>(the_system.npus())),
        simulated(rank_classes != nullptr && rank_classes->members.size() == 1 ? 1 : ranks),
        locals(rank_classes != nullptr ? static_cast<uint32_t>(rank_classes->members.size()) : ranks),
        queue(rank_classes != nullptr),
        agenda(queue, simulated),
        classes(rank_classes) {
    if (classes == nullptr) return;
    orders.emplace(the_system, *classes);
    finish_orders.resize(classes->members.size());
    touched.resize(simulated);
  }

  // One for many: two events of one time touch a rank, and which comes first differs from rank to rank. Only events
  // pushed at one time can change places.
  enum Touch : uint8_t { kNode, kPost, kArrival };
  void NoteTouch(uint32_t rank, Touch touch, Touch other) {
    const Touched now{queue.now(), queue.track()};
    const Touched& before = touched[rank][other];
    const bool together = before.time == now.time && before.track.pushed == now.track.pushed;
    if (together && before.track.order != now.track.order) asymmetric = "ranks break a tie differently";
    touched[rank][touch] = now;
  }

  // How many ranks `rank` represents.
  uint64_t weight(uint32_t rank) const {
    return classes == nullptr ? 1 : classes->members[classes->class_of[rank]].size();
  }

  // Ends the run; the first failure is kept.
  void Fail(const DiagnosticKind& kind, std::string message, std::string help = {}) {
    if (!failure) failure = MakeError(kind, std::move(message), {}, std::move(help));
  }

  // Puts `where` before the failure's message.
  void AddPlace(const std::string& where) { failure->message = where + ": " + failure->message; }

  const hardware::System& system;
  const SimulateOptions& options;
  uint64_t ticks_per_ns;
  uint32_t ranks;
  uint32_t simulated;  // ranks that could be: all, or 1
  uint32_t first_local = 0;
  uint32_t locals;  // ranks from first_local on that run here: all, but for hosts of some and rank classes
  MessageCarrier* carrier = nullptr;
  EventQueue queue;
  Agenda agenda;
  const EquivalentRanks* classes;       // rank classes only
  std::optional<OrderTrace> orders;     // rank classes only
  std::vector<uint32_t> finish_orders;  // of each class: order in which its ranks finish
  std::string asymmetric;               // rank classes: why ranks may differ after all; the run is void
  struct Touched {
    uint64_t time = ~uint64_t{0};
    Track track;
  };
  std::vector<std::array<Touched, 3>> touched;  // rank classes: by rank and Touch, the last
  std::optional<Error> failure;
};

}  // namespace hespas::simulate
