// What all parts of the event engine share: the clock, the agendas, the system, and the first failure.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "base/result.h"
#include "simulate/agenda.h"
#include "simulate/event_queue.h"
#include "simulate/match_key.h"
#include "simulate/order_trace.h"
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
  // With `one_for_all` (the groups) rank 0 stands for all ranks: what it sends to a neighbour comes to it from the
  // opposite one.
  Core(const hardware::System& the_system, const SimulateOptions& the_options, const GroupFamilies* one_for_all)
      : system(the_system),
        options(the_options),
        ticks_per_ns(the_options.resolution == Resolution::kPicosecond ? 1000 : 1),
        ranks(static_cast<uint32_t>(the_system.npus())),
        simulated(one_for_all != nullptr ? 1 : ranks),
        locals(simulated),
        queue(one_for_all != nullptr),
        agenda(queue, simulated) {
    if (one_for_all != nullptr) orders.emplace(the_system, *one_for_all);
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
  uint32_t simulated;  // ranks: all, or 1
  uint32_t first_local = 0;
  uint32_t locals;  // ranks from first_local on that run here: all, but for hosts of some
  MessageCarrier* carrier = nullptr;
  EventQueue queue;
  Agenda agenda;
  std::optional<OrderTrace> orders;  // one for all only
  uint32_t finish_order = 0;         // one for all: order in which the ranks finish
  bool asymmetric = false;           // one for all: found that ranks may differ; the run is void
  std::optional<Error> failure;
};

}  // namespace hespas::simulate
