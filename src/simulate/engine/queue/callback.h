// What to run when a message has been sent or received.
#pragma once

#include <cstdint>

namespace hespas::simulate {

enum class CallbackKind : uint8_t {
  kNone,
  kStream,             // owner: stream
  kNode,               // owner: rank, index: node of its program
  kGraphNode,          // owner: stream, index: node of its collective graph
  kRendezvousSend,     // owner: pending transfer whose clearance has come
  kRendezvousReceive,  // owner: pending transfer whose clearance has gone out
};

struct Callback {
  CallbackKind kind = CallbackKind::kNone;
  uint32_t owner = 0;
  uint32_t index = 0;
};

// Runs callbacks; implemented by the engine.
class CallbackRunner {
 public:
  virtual ~CallbackRunner() = default;
  virtual void Run(Callback callback) = 0;
  // The commonest: kStream.
  virtual void Received(uint32_t stream) = 0;
};

}  // namespace hespas::simulate
