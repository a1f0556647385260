// RunResult: the answer of `hespas run`, as result.json holds it (schema_version 1).
//
// - Times are those of the slowest rank; compute + exposed communication + idle = step time on it.
// - Optional figures are absent where the device file lacks what they need.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "base/price.h"
#include "base/units.h"
#include "result/block_times.h"
#include "result/breakdown.h"
#include "result/collective_pricing.h"
#include "result/memory_curve.h"
#include "result/what_if.h"

namespace hespas::result {

struct CollectiveSummary {
  std::string op;  // "all_reduce"
  int64_t count = 0;
  Bytes bytes;
  Time time;
  std::vector<CollectivePricing> pricings;  // different ones, where a model of collectives prices them
};

struct OpSummary {
  std::string name;     // "stablehlo.add"
  double energy_j = 0;  // of one device; 0 where its power is unknown
  int64_t count = 0;
  Time time;
  Flops flops;
  Bytes bytes;
  std::map<std::string, int64_t, std::less<>> costed_by;  // estimator -> how many of them
};

// Kernels of one content in one scope of the framework's program, over its layers.
struct KernelSummary {
  std::string name;  // "layers_*/attention matmul 4096x4096x128", "all-gather 58.7 MB"
  int64_t count = 0;
  Time time;
  Flops flops;
  Bytes bytes;
};

// What a step works through, as far as the arguments of the program tell.
struct Throughput {
  std::string unit;      // "tokens", "samples"
  double per_step = 0;   // the global batch divided by all devices: data that several devices read counts once
  std::string argument;  // "argument 201, tensor<1x4096xi32>", or the option that says so
};

// A kernel without a known cost: estimated by the bytes it moves, its arithmetic not counted.
struct UnknownKernel {
  std::string name;   // a custom call's target, or an op
  int64_t count = 0;  // executions
  Bytes bytes;
};

// The whole program as it ran on this machine, with the devices that took part.
struct MeasuredStep {
  Time time;
  Time sigma;
  std::string platform;  // "cpu, 4 devices"
};

struct RunResult {
  struct {
    std::string path;
    std::string sha256;
    int64_t ops = 0;
  } program;
  std::string device;
  std::string system;
  int64_t npus = 0;
  std::string estimator;
  std::string network_model;  // what timed the collectives: "calibrated", "plain", "simgrid"; empty: no network
  std::string optimise;
  std::string split;
  Time step_time;
  std::optional<Time> step_time_sigma;
  std::optional<MeasuredStep> measured_step;
  Time compute_time;
  Time communication_time;
  Time exposed_communication;
  Time overlap;
  Time idle;
  Flops flops;
  Bytes bytes_accessed;
  double flops_utilisation = 0;
  double memory_bandwidth_utilisation = 0;
  double hardware_flops_utilisation = 0;          // HFU: matmuls and convolutions at their peak rates / step time
  std::optional<double> model_flops_utilisation;  // MFU: without recomputation; absent where the program hides it
  std::optional<Throughput> throughput;
  std::optional<MemoryCurve> memory;
  std::optional<Bytes> peak_memory;
  std::optional<Bytes> memory_capacity;
  std::optional<bool> fits_in_memory;
  std::optional<double> energy_j;  // of one device and step
  std::optional<Price> price;      // of one device and hour
  struct {
    int64_t total = 0;
    int64_t unique = 0;
    int64_t compute = 0;
    int64_t communication = 0;
  } blocks;
  std::vector<CollectiveSummary> collectives;
  std::vector<OpSummary> ops;                  // costliest first
  std::vector<KernelSummary> kernels;          // costliest first, communication of the slowest rank among them
  std::vector<UnknownKernel> unknown_kernels;  // those that move most bytes first
  bool schedule_limit = false;  // overlap is what XLA schedules under the device's memory limit, although nothing fits
  Breakdown breakdown;
  std::optional<BlockTimes> block_times;  // where a run was asked for them
  std::vector<WhatIf> what_if;
  std::vector<Diagnostic> warnings;

  // Tokens or samples a second, of one device and of all.
  std::optional<double> rate_per_device() const {
    if (!throughput || step_time.value <= 0) return std::nullopt;
    return throughput->per_step / step_time.seconds();
  }
  std::optional<double> rate() const {
    const auto one = rate_per_device();
    return one ? std::optional(*one * static_cast<double>(npus)) : std::nullopt;
  }
  // What a million tokens or samples take: J of the devices, and money at the price.
  std::optional<double> energy_per_million() const { return PerMillion(energy_j); }
  std::optional<double> cost_per_million() const {
    return price ? PerMillion(CostOf(*price, step_time.seconds())) : std::nullopt;
  }
  // What all devices do in a step.
  double flops_of_all() const { return static_cast<double>(flops.value) * static_cast<double>(npus); }
  std::optional<double> batch() const {
    return throughput ? std::optional(throughput->per_step * static_cast<double>(npus)) : std::nullopt;
  }

  struct {
    std::string command;
    std::string version;
    std::map<std::string, std::string> input_hashes;
  } reproduce;

 private:
  // Of what one device and step take.
  std::optional<double> PerMillion(std::optional<double> amount) const {
    constexpr double kMillion = 1e6;
    if (!amount || !throughput || !(throughput->per_step > 0)) return std::nullopt;
    return kMillion * *amount / throughput->per_step;
  }
};

}  // namespace hespas::result
