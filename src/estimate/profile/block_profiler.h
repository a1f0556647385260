// What measures whole blocks with a compiler and a device, or a simulator of one: one class per way to do so.
//
// - Compile may be called from several threads, each with a slot of its own; Measure runs alone.
// - Failures are of the block, never of the run.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace hespas::estimate {

struct ProgramArgument {
  std::string element;  // as StableHLO writes it
  std::vector<int64_t> shape;
};

struct BlockProgram {
  std::string path;  // of its StableHLO text, generic form; tools may write beside it
  std::vector<ProgramArgument> arguments;
  int replicas = 1;  // devices that run it together
  int partitions = 1;
};

struct Measured {
  double seconds = 0;  // without what it costs to start any program, where that is known
  double sigma_seconds = 0;
};

class BlockProfiler {
 public:
  virtual ~BlockProfiler() = default;
  virtual std::string_view name() const = 0;  // lives as long as the program
  // Of all that measurements depend on: device, plugin or tools with their versions, options.
  virtual std::string Fingerprint() const = 0;
  virtual Status Compile(const BlockProgram& program, size_t slot) = 0;
  virtual Result<Measured> Measure(const BlockProgram& program, size_t slot) = 0;
};

}  // namespace hespas::estimate
