// One row of a sweep's table: a point's settings and what `hespas run` says of it, or why it failed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "result/run_result.h"
#include "sweep/file/sweep_file.h"

namespace hespas::sweep {

struct Row {
  uint64_t point = 0;
  Settings settings;         // of the axes
  result::RunResult result;  // device, system, npus, times, work, memory, energy, throughput; the rest is empty
  std::string error;         // code; empty: done
  std::string message;
};

// All columns in order, with null where a row has no value. Equal rows give equal text.
Json ToJson(const Row& row, const Economy& economy);
std::string JsonLine(const Row& row, const Economy& economy);

// Looks a name up in a row as ToJson made it.
Json ValueOf(const Json& row, const std::string& name);

}  // namespace hespas::sweep
