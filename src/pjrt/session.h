// A plugin's devices, and programs that are compiled for them. Clients are never destroyed: plugins do not all survive
// it, and the process ends soon after.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "pjrt/arguments.h"
#include "pjrt/plugin.h"
#include "pjrt/timing.h"

namespace hespas::pjrt {

struct Platform {
  std::string name;     // "cpu", "cuda", ...
  std::string version;  // of the compiler and driver, as the plugin tells it
  std::string device;   // kind of the first
  size_t devices = 0;
};

// How one program is spread over devices; replicas * partitions of them take part.
struct Spread {
  int replicas = 1;
  int partitions = 1;
  int devices() const { return replicas * partitions; }
};

struct Program {
  std::string code;  // StableHLO: text, bytecode or portable artifact
  std::vector<ArgumentType> arguments;
  Spread spread;
};

// Wall: from the start of a run to its end. Cpu: what this process's threads computed meanwhile, which other load on
// the machine changes little; of plugins for processors alone.
enum class Clock : uint8_t { kWall, kCpu };

// Seconds that starting a program and waiting for its end cost, by how many values go in and come out.
struct Overhead {
  double base = 0;
  double per_argument = 0;
  double per_result = 0;
  double Of(size_t arguments, size_t results) const;
};

class Executable;

class Session {
 public:
  static Result<Session> Open(const std::string& plugin, Clock clock = Clock::kWall);

  const Platform& platform() const { return platform_; }
  const Plugin& plugin() const { return plugin_; }

  Result<std::shared_ptr<Executable>> Compile(const Program& program) const;
  // Of runs on arguments that stay on the devices, after one run that does not count. An accelerator queues programs:
  // runs of less than a millisecond are started in a row, and one wait is shared by all. `cold`: what the devices cache
  // is replaced before each run, and each waits alone.
  Result<Timing> Time(const Executable& executable, const Effort& effort, bool cold);
  // Measured with programs that hand on their arguments.
  Result<Overhead> MeasureOverhead();
  static size_t ResultCount(const Executable& executable);

 private:
  Session(Plugin plugin, Clock clock) : plugin_(plugin), clock_(clock) {}
  Status Describe();
  struct Row {
    double seconds = 0;
    double starting_s = 0;  // until the last one was queued
  };
  Result<Row> Run(const Executable& executable, int times) const;
  Status Start(const Executable& executable, std::vector<CEvent*>& events) const;
  Result<int> RunsInARow(const Executable& executable) const;
  Result<Timing> TimeRows(const Executable& executable, const Effort& effort, bool cold, int row) const;
  Result<double> TimeNothing(size_t arguments, size_t results) const;
  bool queues() const { return platform_.name != "cpu"; }

  Plugin plugin_;
  Clock clock_;
  CClient* client_ = nullptr;
  std::vector<CDevice*> devices_;
  Platform platform_;
  std::shared_ptr<Executable> sweep_;  // reads and writes more than a device caches
};

}  // namespace hespas::pjrt
