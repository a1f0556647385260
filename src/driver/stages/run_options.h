// What a run is asked for: one struct a stage, each in the header of its stage.
//
// - Words of the command line, of files and of Python become values where they are read (driver/configuration/words.h).
#pragma once

#include <string>
#include <vector>

#include "base/progress.h"
#include "driver/stages/device.h"
#include "driver/stages/estimate.h"
#include "driver/stages/memory.h"
#include "driver/stages/network.h"
#include "driver/stages/optimise.h"
#include "driver/stages/program/read.h"
#include "driver/stages/split.h"
#include "driver/stages/system.h"
#include "report/export/trace_files.h"

namespace hespas::driver {

// Several programs at once, or devices that differ (driver/pipeline/parts.h).
struct PartsOptions {
  std::vector<std::string> programs;      // of further parts
  std::vector<std::string> devices;       // one for each part; fewer: DeviceOptions::name
  std::vector<std::string> placement;     // NPUs of each part
  std::vector<std::string> rank_devices;  // "4-7=H100_80GB": devices that differ from DeviceOptions::name
  bool one_of_several = false;            // sends and receives may meet another program's
};

// What is written and told.
struct OutputOptions {
  std::string folder;  // empty: nothing is written
  bool clean = false;  // empty it first
  report::TraceFiles trace_files = report::TraceFiles::kAuto;
  bool report = true;        // with a folder: report.html and timeline.pftrace too
  bool what_if = true;       // what other devices and networks would give: with a folder exactly, else about
  bool list_blocks = false;  // what each block adds to the step, as result.json holds it
  bool explain = false;      // critical path and exposed part of each collective
  std::string command_line;
};

struct RunOptions {
  ProgramOptions program;
  DeviceOptions device;
  SystemOptions system;
  std::vector<std::string>
      changes;  // "device.memory_bandwidth=2x", "system.latency=0" (driver/configuration/changes.h)
  OptimiseOptions optimise;
  SplitOptions split;
  EstimateOptions estimate;
  NetworkOptions network;
  MemoryOptions memory;
  PartsOptions parts;
  OutputOptions output;
  bool compat = false;           // the Python prototype's choices and defects
  Progress* progress = nullptr;  // of estimates and the what-if table
};

}  // namespace hespas::driver
