// Answers points as `hespas run` would, to the picosecond, and does each piece of work once.
//
// - Programs are read once; structures, devices, systems and estimates are kept while there is room for them.
// - What measures or asks outside tools, devices by rank and --optimise xla go through the whole pipeline for each
// point.
// - Thread-safe: one Evaluator for all threads, one Scratch for each.
#pragma once

#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <unordered_map>

#include "sweep/answer/row.h"
#include "sweep/structure.h"
#include "sweep/work.h"

namespace hespas::sweep {

// The last few values by key; what is asked for most recently stays.
template <class Value>
class Recent {
 public:
  explicit Recent(size_t most) : most_(most) {}

  Value* Find(const std::string& key) {
    const auto found = index_.find(key);
    if (found == index_.end()) return nullptr;
    entries_.splice(entries_.begin(), entries_, found->second);
    return &found->second->second;
  }
  Value& Add(const std::string& key, Value value) {
    entries_.emplace_front(key, std::move(value));
    index_[key] = entries_.begin();
    if (entries_.size() > most_) {
      index_.erase(entries_.back().first);
      entries_.pop_back();
    }
    return entries_.front().second;
  }

 private:
  size_t most_;
  std::list<std::pair<std::string, Value>> entries_;
  std::unordered_map<std::string, typename std::list<std::pair<std::string, Value>>::iterator> index_;
};

// Traces that one thread writes durations into.
struct Scratch {
  struct Copy {
    std::shared_ptr<const Assembled> of;
    std::shared_ptr<const Work> durations;
    trace::TraceGraph traces;
  };
  std::list<Copy> copies;
};

class Evaluator {
 public:
  // Fills everything of a row but its number and settings.
  void Evaluate(const driver::RunOptions& options, Scratch& scratch, Row& row);

 private:
  class SharedStages;
  struct DeviceAndWork {
    hardware::Device device;
    std::shared_ptr<const Structure> structure;
    std::shared_ptr<const Work> work;
  };

  Result<std::shared_ptr<SharedProgram>> ProgramOf(const driver::RunOptions& options);
  std::shared_ptr<const hardware::Device> BaseDevice(const driver::RunOptions& options, Diagnostics& diagnostics);
  std::shared_ptr<const hardware::System> BaseSystem(const std::string& name, Diagnostics& diagnostics);
  std::optional<hardware::System> NodeOf(const hardware::Device& device, size_t npus, Diagnostics& diagnostics);
  std::optional<hardware::System> SystemFor(const driver::RunOptions& options, const hardware::Device* device,
                                            size_t npus, Diagnostics& diagnostics);
  std::shared_ptr<const DeviceAndWork> WorkFor(const driver::RunOptions& options, Diagnostics& diagnostics);
  void RunWhole(const driver::RunOptions& options, Row& row, Diagnostics& diagnostics);

  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<const std::string>> contents_;
  Recent<std::shared_ptr<SharedProgram>> programs_{16};
  Recent<std::shared_ptr<const hardware::Device>> devices_{256};
  Recent<std::shared_ptr<const hardware::System>> systems_{4096};
  Recent<std::string> nodes_{4096};  // names of presets
  Recent<std::shared_ptr<const DeviceAndWork>> works_{512};
};

}  // namespace hespas::sweep
