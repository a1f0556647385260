// What cycle models and GenZ need of a device beyond its datasheet rates: optional sections of a device file.
#pragma once

#include <optional>

#include "base/text/json_text.h"
#include "base/units.h"

namespace hespas::hardware {

// A weight-stationary array of multiply-add cells with its own memory port ("systolic_array").
struct SystolicArray {
  double rows = 128;
  double columns = 128;
  double count = 1;  // equal arrays that share the columns of a matmul
  double clock_hz = 1e9;
  double buffer_bytes = 8 << 20;                 // on-chip, for activations and results of one job
  std::optional<BytesPerSecond> read_bandwidth;  // sustained, of off-chip memory; else the device's
  std::optional<BytesPerSecond> write_bandwidth;
  double tile_overhead_cycles = 0;  // of one tile of weights
};

// A device as GenZ's system files describe it ("genz").
struct GenzFigures {
  std::optional<FlopsPerSecond> peak_flops;
  std::optional<BytesPerSecond> memory_bandwidth;
  std::optional<BytesPerSecond> link_bandwidth;
  std::optional<Time> link_latency;
};

// Nothing where `device` has no such section; defects go to the object's diagnostics.
std::optional<SystolicArray> ReadSystolicArray(JsonObject& device);
std::optional<GenzFigures> ReadGenzFigures(JsonObject& device);

}  // namespace hespas::hardware
