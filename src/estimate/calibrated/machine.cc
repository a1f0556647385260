#include "estimate/calibrated/machine.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <string>

namespace hespas::estimate::calibrated {
namespace {

constexpr double kWarp = 32;    // lanes of one instruction
constexpr int kSchedulers = 4;  // of an SM where the device file does not say
// Of one SM whose device file does not say, reciprocals or exponentials a clock: 16 on NVIDIA's data centre GPUs from
// Pascal to Blackwell, however many FP32 lanes they have (CUDA programming guide, arithmetic throughput), and a quarter
// of the 64 lanes of AMD's units.
constexpr double kSpecialLanes = 16;
constexpr double kSpecialShare = 0.25;  // of the lanes of other devices

// Of one SM for a type, relative to 16-bit floats: matrix units halve their rate with every doubling of the width.
double RelativeMatrixRate(Datatype type) {
  switch (type) {
    case Datatype::kF64:
      return 1.0 / 16;
    case Datatype::kF32:
    case Datatype::kTf32:
    case Datatype::kI32:
      return 0.5;
    case Datatype::kI64:
      return 0.25;
    case Datatype::kF8:
    case Datatype::kI8:
      return 2;
    case Datatype::kF4:
      return 4;
    default:
      return 1;
  }
}

bool IsNarrow(Datatype type) {
  return type != Datatype::kF64 && type != Datatype::kF32 && type != Datatype::kI32 && type != Datatype::kI64;
}

// A type that a type without a rate of its own is computed in: the next wider one that holds its values.
std::optional<Datatype> Wider(Datatype type) {
  switch (type) {
    case Datatype::kF4:
    case Datatype::kF8:
      return Datatype::kF16;  // as XLA's GPU compiler (gpu_compiler.cc: GpuFloatSupport(..., F16))
    case Datatype::kF16:
      return Datatype::kBf16;
    case Datatype::kI1:
      return Datatype::kI8;
    case Datatype::kI8:
      return Datatype::kI16;
    case Datatype::kI16:
      return Datatype::kI32;
    case Datatype::kI32:
    case Datatype::kBf16:
    case Datatype::kTf32:
      return Datatype::kF32;
    default:
      return std::nullopt;
  }
}

using NamedRates = std::array<const FlopsPerSecond*, kDatatypes>;  // null: the tables do not name the type

// Of the first table that names a type, in any spelling; the type's own name comes first.
NamedRates RatesOf(std::initializer_list<const hardware::RateTable*> tables) {
  NamedRates out{};
  for (const hardware::RateTable* table : tables) {
    NamedRates own{};
    for (const auto& [name, rate] : *table) {
      const auto type = ParseDatatype(name);
      if (!type) continue;
      const FlopsPerSecond*& known = own[static_cast<size_t>(*type)];
      if (known == nullptr || name == Entry(*type).name) known = &rate;
    }
    for (size_t i = 0; i < kDatatypes; ++i) {
      if (out[i] == nullptr) out[i] = own[i];
    }
  }
  return out;
}

struct Rate {
  double flops_per_us = 1;
  std::optional<Datatype> of;  // the type whose rate it is; nothing: the rate of types without one
};

Rate RateOf(Datatype type, const NamedRates& rates, FlopsPerSecond otherwise) {
  for (std::optional<Datatype> wide = type; wide; wide = Wider(*wide)) {
    const FlopsPerSecond* rate = rates[static_cast<size_t>(*wide)];
    if (rate != nullptr) return {.flops_per_us = std::max(1.0, rate->value * 1e-6), .of = wide};
  }
  return {.flops_per_us = std::max(1.0, otherwise.value * 1e-6), .of = std::nullopt};
}

template <class Constants>
struct Replaceable {
  std::string_view key;
  double Constants::*value;
};

// The constants that belong to a device: at most four a family.
constexpr Replaceable<GemmConstants> kOwnGemm[] = {{"launch_us", &GemmConstants::launch_us},
                                                   {"sm_fraction", &GemmConstants::sm_fraction},
                                                   {"l2_bytes_per_clock", &GemmConstants::l2_bytes_per_clock},
                                                   {"split_limit", &GemmConstants::split_limit}};
constexpr Replaceable<LaneConstants> kOwnLanes[] = {{"sustained_fraction", &LaneConstants::sustained_fraction},
                                                    {"memory_fraction", &LaneConstants::memory_fraction},
                                                    {"pj_per_flop", &LaneConstants::pj_per_flop},
                                                    {"smallest_tile", &LaneConstants::smallest_tile}};
constexpr Replaceable<CollectiveConstants> kOwnCollective[] = {{"launch_us", &CollectiveConstants::launch_us},
                                                               {"hop_us", &CollectiveConstants::hop_us},
                                                               {"link_fraction", &CollectiveConstants::link_fraction},
                                                               {"ramp", &CollectiveConstants::ramp}};
constexpr std::string_view kCollectiveKeys[kCollectiveOps] = {"all-reduce", "all-gather", "reduce-scatter",
                                                              "all-to-all", "collective-permute"};

std::optional<double> Own(const hardware::Device& device, std::string_view family, std::string_view key) {
  const auto found = device.calibration.find(fmt::format("{}.{}", family, key));
  return found == device.calibration.end() ? std::nullopt : std::optional(found->second);
}

template <class Table, class Constants>
void Replace(const hardware::Device& device, std::string_view family, const Table& table, Constants& constants) {
  for (const auto& entry : table) {
    constants.*entry.value = Own(device, family, entry.key).value_or(constants.*entry.value);
  }
}

// Of one kind of collective, or of all.
std::optional<double> OwnSigma(const hardware::Device& device, std::string_view collective, std::string_view key) {
  const auto own = Own(device, collective, key);
  return own ? own : Own(device, "collective", key);
}

void ReplaceMemory(const hardware::Device& device, MemoryConstants& memory) {
  memory.launch_us = Own(device, "elementwise", "launch_us").value_or(memory.launch_us);
  memory.own_fraction = Own(device, "elementwise", "memory_fraction").value_or(memory.own_fraction);
  memory.l2_bytes_per_clock = Own(device, "elementwise", "l2_bytes_per_clock").value_or(memory.l2_bytes_per_clock);
  memory.issue_fraction = Own(device, "elementwise", "issue_fraction").value_or(memory.issue_fraction);
  memory.streamed_fraction = std::max(memory.streamed_fraction, memory.issue_fraction);
}

void ReplaceCollectives(const hardware::Device& device, Parameters& own) {
  const bool mesh = device.interconnect && device.interconnect->topology == "mesh";
  for (size_t op = kCollectiveOps; op-- > 0;) {  // an all-reduce is the last, as its phases are others
    if (mesh && static_cast<CollectiveOp>(op) == CollectiveOp::kAllReduce) own = OnMesh(own);
    const std::string_view key = kCollectiveKeys[op];
    Replace(device, key, kOwnCollective, own.collectives[op]);
    own.collective_sigma[op] = OwnSigma(device, key, "sigma").value_or(own.collective_sigma[op]);
    own.collective_latency_sigma[op] =
        OwnSigma(device, key, "latency_sigma").value_or(own.collective_latency_sigma[op]);
    own.collective_ramp_sigma[op] = OwnSigma(device, key, "ramp_sigma").value_or(own.collective_ramp_sigma[op]);
  }
}

}  // namespace

Parameters OnMesh(Parameters parameters) {
  const CollectiveConstants& scatter = parameters.collectives[static_cast<size_t>(CollectiveOp::kReduceScatter)];
  const CollectiveConstants& gather = parameters.collectives[static_cast<size_t>(CollectiveOp::kAllGather)];
  CollectiveConstants& both = parameters.collectives[static_cast<size_t>(CollectiveOp::kAllReduce)];
  both.launch_us = scatter.launch_us + gather.launch_us;
  both.hop_us = scatter.hop_us + gather.hop_us;
  both.link_fraction = 2 / (1 / scatter.link_fraction + 1 / gather.link_fraction);
  both.ramp = (scatter.ramp + gather.ramp) / 2;
  return parameters;
}

Machine MakeMachine(const hardware::Device& device) {
  Machine machine;
  machine.sms = std::max(1, device.sm_count.value_or(device.family == "tpu" ? 1 : 100));
  machine.memory_rate = std::max(1.0, device.memory_bandwidth.value * 1e-6);
  machine.l2_bytes = device.l2_capacity ? static_cast<double>(device.l2_capacity->value) : 0;
  machine.fast_bytes = device.shared_memory_per_sm ? static_cast<double>(device.shared_memory_per_sm->value) : 131072;
  machine.tdp_w = device.tdp_w.value_or(0);
  machine.process_nm = device.process_nm.value_or(7);
  machine.gddr = device.memory_kind.starts_with("GDDR");
  machine.other_rate = std::max(1.0, device.peak_flops.value * 1e-6);
  machine.tpu = device.family == "tpu";
  machine.tf32_dots = device.vendor != "AMD";  // XLA gpu_blas_lt.cc: `cc.IsCuda() && ...`
  std::array<Datatype, kDatatypes> computed;   // the type whose matrix rate counts
  const NamedRates matrix_rates = RatesOf({&device.matrix_flops, &device.per_datatype_flops});
  const NamedRates vector_rates = RatesOf({&device.vector_flops, &device.per_datatype_flops});
  for (size_t i = 0; i < kDatatypes; ++i) {
    const auto type = static_cast<Datatype>(i);
    const Rate matrix = RateOf(type, matrix_rates, device.peak_flops);
    computed[i] = matrix.of.value_or(type);
    machine.matrix_rate[i] = matrix.flops_per_us;
    machine.vector_rate[i] = RateOf(type, vector_rates, device.peak_flops).flops_per_us;
    machine.named[i] = matrix.of == type;
    machine.rated[i] = matrix.of.has_value();
    machine.tensor[i] =
        device.family == "tpu" || IsNarrow(computed[i]) || machine.matrix_rate[i] > 1.5 * machine.vector_rate[i];
  }
  const double f32 = machine.vector_rate[static_cast<size_t>(Datatype::kF32)];
  machine.clock = device.clock_hz.value_or(1.5e9) * 1e-6;
  if (device.family == "gpu" && device.sm_count && device.clock_hz) {
    machine.sm_share = machine.memory_rate / (machine.sms * machine.clock);
  }
  machine.lanes = device.lanes_per_sm ? *device.lanes_per_sm : f32 / (2 * machine.sms * machine.clock);
  const double special = device.family == "gpu" ? kSpecialLanes : kSpecialShare * machine.lanes;
  machine.special_lanes = device.special_lanes_per_sm ? *device.special_lanes_per_sm : special;
  const bool known = device.lanes_per_sm || (device.sm_count && device.clock_hz && device.Knows("f32"));
  const double issue_lanes = kWarp * device.schedulers_per_sm.value_or(kSchedulers);
  // Lanes that two instructions of one warp feed count once.
  if (known && device.family != "tpu") machine.issue_share = std::min(1.0, machine.lanes / issue_lanes);
  // An instruction of a TPU feeds all of its lanes.
  machine.issue_lanes = device.family == "tpu" ? std::numeric_limits<double>::infinity() : issue_lanes;
  for (size_t i = 0; i < kDatatypes; ++i) {
    machine.sm_matrix_rate[i] = device.matrix_flops_per_clock
                                    ? *device.matrix_flops_per_clock * RelativeMatrixRate(computed[i]) * machine.clock
                                    : machine.matrix_rate[i] / machine.sms;
  }
  return machine;
}

double SustainedMemoryRate(const Machine& machine, const MemoryConstants& memory) {
  if (memory.own_fraction > 0) return machine.memory_rate * memory.own_fraction;
  if (machine.gddr) return machine.memory_rate * memory.gddr_fraction;
  return machine.memory_rate / (1 + std::pow(machine.sm_share / memory.hbm_bytes_per_clock, kShareExponent));
}

// XLA makes CUDA graphs for NVIDIA's GPUs. What a device says of its launches holds for those in graphs in proportion.
void PutStream(const hardware::Device& device, StreamConstants& stream) {
  const double shared_us = stream.launch_us;
  stream.launch_us = Own(device, "stream", "launch_us").value_or(shared_us);
  const double ratio = stream.launch_us / shared_us;
  const bool graphs = device.vendor == "NVIDIA" && device.family == "gpu" && device.clock_hz;
  stream.graph_us = stream.launch_us;
  if (graphs) stream.graph_us = std::min(stream.launch_us, ratio * stream.graph_clocks / *device.clock_hz * 1e6);
}

std::string_view FamilyOnMachine(const KernelSpec& kernel, const Machine& machine) {
  const Family family = FamilyOf(kernel);
  const bool matmul = family == Family::kGemm || family == Family::kLinear || family == Family::kBatchedGemm;
  if (!matmul) return FamilyName(family);
  if (machine.tensor[static_cast<size_t>(kernel.type)]) return FamilyName(Family::kGemm);
  return FamilyName(family == Family::kBatchedGemm ? family : Family::kLinear);
}

Parameters ForDevice(const Parameters& parameters, const hardware::Device& device) {
  Parameters own = parameters;
  Replace(device, "gemm", kOwnGemm, own.gemm);
  own.tf32 = own.gemm;
  Replace(device, "tf32", kOwnGemm, own.tf32);
  Replace(device, "linear", kOwnLanes, own.linear);
  Replace(device, "bmm", kOwnLanes, own.batched);
  ReplaceMemory(device, own.memory);
  PutStream(device, own.stream);
  own.in_switch_ratio = Own(device, "all-reduce", "in_switch_ratio").value_or(own.in_switch_ratio);
  ReplaceCollectives(device, own);
  for (size_t family = 0; family < kFamilies; ++family) {
    const std::string_view name = FamilyName(static_cast<Family>(family));
    own.sigma[family] = Own(device, name, "sigma").value_or(own.sigma[family]);
    own.campaign_sigma[family] = Own(device, name, "campaign_sigma").value_or(own.campaign_sigma[family]);
  }
  // What a device's own residuals say has its power in it.
  if (Own(device, "linear", "sigma") || Own(device, "bmm", "sigma")) own.power_sigma = 0;
  own.tf32_sigma = Own(device, "tf32", "sigma").value_or(Own(device, "gemm", "sigma").value_or(parameters.tf32_sigma));
  return own;
}

}  // namespace hespas::estimate::calibrated
