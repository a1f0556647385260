// What all parts of the event engine share: the clock, the agendas, the system, and the first failure.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "base/result.h"
#include "simulate/agenda.h"
#include "simulate/event_queue.h"
#include "simulate/simulate.h"

namespace hespas::simulate {

struct Core {
  Core(const hardware::System& the_system, const SimulateOptions& the_options)
      : system(the_system),
        options(the_options),
        ticks_per_ns(the_options.resolution == Resolution::kPicosecond ? 1000 : 1),
        ranks(static_cast<uint32_t>(the_system.npus())),
        agenda(queue, ranks) {}

  // Ends the run; the first failure is kept.
  void Fail(const DiagnosticKind& kind, std::string message, std::string help = {}) {
    if (!failure) failure = MakeError(kind, std::move(message), {}, std::move(help));
  }

  const hardware::System& system;
  const SimulateOptions& options;
  uint64_t ticks_per_ns;
  uint32_t ranks;
  EventQueue queue;
  Agenda agenda;
  std::optional<Error> failure;
};

}  // namespace hespas::simulate
