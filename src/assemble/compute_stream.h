// Keeps messages in the stream of the computation: of permutes that XLA's flags leave synchronous.
//
// - A message's tag is its channel, so it has no mark as collectives have (trace/asynchronous.h). Control dependencies
//   say the same to every network model and to every simulator of traces: what the stream holds before the messages
//   ends before they begin, and what comes behind waits for them.
// - All ranks have the order of the program, so none waits for another in a circle.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/trace_graph.h"

namespace hespas::assemble {

class ComputeStream {
 public:
  // The last node of the program is in the stream: a kernel, or a collective that computation waits for.
  void Add(trace::Program& program);
  // The last node of the program is a message in the stream.
  void AddMessage(trace::Program& program);
  // No more messages of this permute follow.
  void EndMessages();

 private:
  std::vector<uint64_t> since_;     // in the stream behind `messages_`
  std::vector<uint64_t> messages_;  // of the last permute
  std::vector<uint64_t> begun_;     // of the permute that is being added
};

}  // namespace hespas::assemble
