// A message engine in a library of its own (src/engines/simgrid), which is loaded when it is asked for: programs start
// without it and work where it is missing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "simulate/engine/message_engine.h"

namespace hespas::simulate {

struct FlowNetwork {
  std::string platform;               // path of a SimGrid platform file
  std::vector<std::string> settings;  // SimGrid's, KEY:VALUE, on top of ours
  uint64_t ticks_per_second = 1'000'000'000'000;
  bool count_links = false;
};

class FlowEngine : public MessageEngine {
 public:
  // The names of the network's hosts, in natural order ("node-2" before "node-10").
  virtual std::vector<std::string> Hosts() const = 0;
  // Rank i runs on host hosts[i]. Call it before the first message.
  virtual void Place(const std::vector<uint32_t>& hosts) = 0;
};

// What the library exports as kMakeFlowEngine. One engine a process; it aborts the process on a bad platform or
// setting.
using MakeFlowEngine = FlowEngine* (*)(const FlowNetwork& network);
inline constexpr const char* kMakeFlowEngine = "hespas_make_flow_engine";

}  // namespace hespas::simulate
