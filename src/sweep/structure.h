// What points share whose programs come out equal: the optimised program, its blocks, its traces, their simulation
// plan.
//
// - A structure holds for a device if fusion would decide everything alike on it (optimise/gpu/decisions.h); that is
//   checked for every device.
// - Thread-safe; what is shared is never changed once it is there.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <tuple>
#include <vector>

#include "driver/pipeline/run.h"
#include "estimate/facts.h"
#include "optimise/gpu/decisions.h"
#include "simulate/collective/analytical.h"

namespace hespas::sweep {

// Traces of one number of NPUs, with the durations of whoever asked first.
struct Assembled {
  trace::TraceGraph traces;
  simulate::AnalyticalPlan plan;
  std::optional<result::Throughput> throughput;  // tokens or samples of a step
};

// One optimised and split program.
class Structure {
 public:
  Structure(driver::Prepared prepared, bool communicates);

  const driver::Prepared& prepared() const { return prepared_; }
  bool communicates() const { return communicates_; }
  const std::shared_ptr<const estimate::Facts>& facts() const { return facts_; }
  const estimate::calibrated::CommandBuffers& buffers() const { return buffers_; }
  // Of one device; how much memory it has limits how far XLA overlaps.
  Bytes PeakMemory(const hardware::Device& device) const;
  // driver/figures/uncertainty.h; any table of these blocks has the same.
  const std::vector<size_t>& FamiliesFor(const graph::EstimateTable& table) const;
  std::shared_ptr<const Assembled> TracesFor(const driver::RunOptions& options, const driver::Estimated& estimated,
                                             const hardware::System* system, Diagnostics& diagnostics) const;

 private:
  driver::Prepared prepared_;  // its device is that of the first point
  bool communicates_;
  std::shared_ptr<const estimate::Facts> facts_;
  estimate::calibrated::CommandBuffers buffers_;
  mutable std::mutex memory_mutex_;
  mutable std::map<int64_t, Bytes> memory_;  // by bytes that a device has; 0: it does not say
  mutable std::once_flag families_once_;
  mutable std::vector<size_t> families_;
  mutable std::mutex mutex_;
  mutable std::map<std::tuple<uint32_t, uint64_t, driver::Overlap>, std::shared_ptr<const Assembled>> traces_;
};

// One program as it was read under one set of assumptions, and the structures that devices made of it so far.
class SharedProgram {
 public:
  // `key` tells it from every other one.
  SharedProgram(std::shared_ptr<const std::string> content, std::string key)
      : content_(std::move(content)), key_(std::move(key)) {}

  const std::string& key() const { return key_; }

  // Reads, optimises and splits what is not there yet.
  std::shared_ptr<const Structure> StructureFor(const driver::RunOptions& options, const hardware::Device& device,
                                                Diagnostics& diagnostics);

 private:
  struct Known {
    std::string key;  // of everything but fusion's questions
    optimise::Decisions decisions;
    std::shared_ptr<const Structure> structure;
    mutable std::atomic<uint64_t> used = 0;
  };

  // What fusion asks the device; needs the source.
  std::optional<driver::OptimiserInput> InputFor(const driver::RunOptions& options, const hardware::Device& device,
                                                 Diagnostics& diagnostics) const;
  std::shared_ptr<const Structure> Find(const std::string& key, const driver::OptimiserInput& input) const;
  std::optional<driver::Prepared> Prepare(const driver::RunOptions& options, const hardware::Device& device,
                                          driver::OptimiserInput& input, Diagnostics& diagnostics);

  std::shared_ptr<const std::string> content_;
  std::string key_;
  mutable std::shared_mutex mutex_;
  std::optional<driver::ReadProgram> source_;
  std::vector<std::unique_ptr<Known>> known_;
  mutable std::atomic<uint64_t> uses_ = 0;
};

}  // namespace hespas::sweep
