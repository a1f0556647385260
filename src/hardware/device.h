// One accelerator: its rates, memories, clocks, links and power, as read from data/devices/NAME.json or a user's file.
//
// - Only `peak_flops` and `memory_bandwidth` are required; every other figure is optional and 0 / absent when unknown.
// - Figures are dense (no structured sparsity) and per device; `sources` says where each comes from.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostic.h"
#include "base/price.h"
#include "base/result.h"
#include "base/units.h"
#include "hardware/matrix_unit.h"

namespace hespas::hardware {

// Rates by datatype, named as in StableHLO: "f32", "bf16", "tf32", "f8E4M3FN", "i8", "ui8", "i1", ...
using RateTable = std::map<std::string, FlopsPerSecond, std::less<>>;

// The ports of one device towards its peers in the same node or domain.
struct Interconnect {
  std::string name;                   // "NVLink 4"
  std::string topology;               // "switch", "mesh" (fully connected), "torus", "ring", "pcie"
  BytesPerSecond bandwidth;           // of all ports together, per direction
  std::optional<int> links;           // ports
  std::optional<Time> latency;        // one hop
  bool in_network_reduction = false;  // the switch sums (NVLink SHARP)
  std::optional<int> domain_size;     // devices reachable at this bandwidth
};

struct Device {
  std::string name;
  std::string description;
  std::string vendor;        // "NVIDIA", "AMD", "Google"
  std::string architecture;  // "sm_90", "gfx942", "tpu_v4"
  std::string family;        // "gpu", "tpu" or what the file says

  FlopsPerSecond peak_flops;     // for a datatype that no table names
  RateTable per_datatype_flops;  // best rate of ordinary use of the type; f32 is the vector rate, tf32 the matrix rate
  RateTable matrix_flops;        // where the rate of dots and convolutions differs from the table above
  RateTable vector_flops;        // where the rate of elementwise operations differs from the table above
  BytesPerSecond memory_bandwidth;

  std::string memory_kind;  // "HBM3", "GDDR6"
  std::optional<Bytes> memory_capacity;
  std::optional<Bytes> l2_capacity;
  std::optional<BytesPerSecond> l2_bandwidth;
  std::optional<Bytes> shared_memory_per_sm;
  std::optional<int> sm_count;                   // streaming multiprocessors, compute units or tensor cores
  std::optional<int> lanes_per_sm;               // fp32 lanes
  std::optional<int> schedulers_per_sm;          // that issue one instruction a clock each
  std::optional<int> special_lanes_per_sm;       // reciprocals or exponentials a clock
  std::optional<double> clock_hz;                // boost
  std::optional<double> matrix_flops_per_clock;  // of one SM, 16-bit floats
  std::optional<int> process_nm;                 // of the logic
  std::optional<double> tdp_w;
  std::optional<double> idle_w;
  std::optional<double> hbm_power_ratio;  // fraction of the TDP that full memory traffic draws
  std::optional<Price> price;             // of one device and hour; its source says whose and when
  std::optional<Interconnect> interconnect;
  std::optional<BytesPerSecond> host_bandwidth;  // PCIe or C2C, per direction
  std::optional<SystolicArray> systolic_array;   // for cycle models
  std::optional<int> sparse_cores;               // of a TPU, which can carry collectives beside its tensor cores
  std::optional<GenzFigures> genz;

  std::map<std::string, double, std::less<>> calibration;   // constants of the calibrated estimator, by name
  std::map<std::string, std::string, std::less<>> sources;  // figure -> where it comes from; "*" for the others
  std::string origin;                                       // the file that was read

  // The rate for a datatype, or `peak_flops` where the table does not name it.
  FlopsPerSecond RateFor(std::string_view datatype) const;
  FlopsPerSecond MatrixRateFor(std::string_view datatype) const;
  FlopsPerSecond VectorRateFor(std::string_view datatype) const;
  bool Knows(std::string_view datatype) const { return per_datatype_flops.contains(datatype); }
  // The source of a figure ("memory_bandwidth", "per_datatype_flops.f64"), of its table, of the others, or "".
  std::string_view SourceOf(std::string_view figure) const;
};

// Reads a device file's text; `file` names it in diagnostics. All defects of one file are reported.
// The prototype's node configuration ({"perf_estimator": {"method", "hardware"}}) is read too.
std::optional<Device> ReadDevice(std::string_view text, const std::string& file, Diagnostics& diagnostics);

}  // namespace hespas::hardware
