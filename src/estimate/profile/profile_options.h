// How blocks are measured (`--estimator pjrt|xla|iree`).
#pragma once

#include <string>
#include <vector>

namespace hespas::estimate {

struct ProfileOptions {
  std::string plugin;     // of pjrt: a shared library; empty: found in the active Python environment
  bool cold = false;      // of pjrt: clear the device's caches before each run
  int sample = 0;         // blocks measured of each family; 0: all
  double budget_s = 0;    // after which no further block is measured; 0: none
  int jobs = 0;           // programs compiled at a time; 0: as the machine has cores, at most 4
  bool whole = false;     // of pjrt: the whole program is measured too
  int at_once = 1;        // of pjrt: devices that run each block at the same time, as a program of so many does
  double memory_gib = 0;  // that one worker may take; 0: four fifths of what is available

  std::string compiler;                        // of xla: xla-translate; of iree: iree-compile; empty: found in PATH
  std::string runner;                          // of xla: hlo_runner_main; of iree: iree-benchmark-module
  std::string target_backend = "llvm-cpu";     // of iree
  std::string target_device = "local-task";    // of iree
  std::vector<std::string> compile_arguments;  // of iree, further ones
  std::vector<std::string> run_arguments;      // of iree, further ones
  std::string clock = "wall";                  // of pjrt and iree: wall or cpu
};

}  // namespace hespas::estimate
