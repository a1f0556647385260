#include "driver/serving/kernel_prices.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "driver/serving/attention_time.h"
#include "estimate/narrow_formats.h"

namespace hespas::driver {
namespace {

using estimate::calibrated::Datatype;
using estimate::calibrated::KernelSpec;
using estimate::calibrated::KernelTime;
using estimate::field::Format;
using serve::KernelKind;
using serve::Part;
using serve::StepCost;

constexpr double kSixteenBits = 2;  // bytes

// Of engines' own all-reduces (vLLM, csrc/custom_all_reduce.cuh): a flag before, loads of the peers' data there and
// back, a flag after. In two parts there are loads of the sums, too.
constexpr double kBarrierCrossings = 4;

network::Operation OperationOf(KernelKind kind) {
  switch (kind) {
    case KernelKind::kAllGather:
      return network::Operation::kAllGather;
    case KernelKind::kReduceScatter:
      return network::Operation::kReduceScatter;
    case KernelKind::kAllToAll:
      return network::Operation::kAllToAll;
    case KernelKind::kPermute:
      return network::Operation::kPermute;
    default:
      return network::Operation::kAllReduce;
  }
}

std::vector<uint32_t> Members(int64_t ranks) {
  std::vector<uint32_t> members(static_cast<size_t>(ranks));
  std::iota(members.begin(), members.end(), 0U);
  return members;
}

// Where the device has no matrix rate for the activations' type, weights are expanded and 16-bit matmuls run.
KernelPrices::Activations ActivationsOf(const serve::WeightFormatFacts& weights, const hardware::Device& device) {
  if (weights.activations == "int8" && device.Knows("i8")) return {"int8", Format::kF8, Datatype::kI8};
  const auto format = estimate::NarrowFormatOn(device, weights.activations);
  if (!format) return {};
  if (weights.name == "fp8-block") return {weights.activations, Format::kF8Block, Datatype::kF8};
  return {weights.activations, *format, *format == Format::kNvF4 ? Datatype::kF4 : Datatype::kF8};
}

}  // namespace

bool InField(const hardware::Device& device) { return device.family == "gpu" && device.Knows("bf16"); }

KernelPrices::KernelPrices(const hardware::Device& device, const estimate::calibrated::Parameters& parameters,
                           const estimate::field::Constants& field, const network::NetworkConstants& links,
                           const hardware::System* system, const serve::WeightFormatFacts& weights)
    : device_(device),
      model_(device, parameters),
      chip_(estimate::field::MakeChip(device)),
      field_(field),
      system_(system),
      constants_(links),
      weights_(weights),
      activations_(ActivationsOf(weights, device)),
      in_field_(InField(device)) {
  if (system_) links_.emplace(device_, *system_, constants_);
  const auto& rates = model_.machine().matrix_rate;
  if (!in_field_) chip_.f16_rate = rates[static_cast<size_t>(Datatype::kBf16)];
  if (activations_.type == Datatype::kI8) chip_.f8_rate = rates[static_cast<size_t>(Datatype::kI8)];
}

StepCost KernelPrices::InStream(const KernelTime& time, Part part, double count) const {
  const double launch = std::min(time.launch_us, model_.parameters().stream.launch_us);
  const double body = std::max(0.0, time.us - time.launch_us);
  StepCost cost;
  cost.seconds = count * (body + launch) * 1e-6;
  cost.parts[static_cast<size_t>(part)] = count * body * 1e-6;
  cost.parts[static_cast<size_t>(Part::kLaunch)] = count * launch * 1e-6;
  return cost;
}

const estimate::field::ExpertLoads& KernelPrices::LoadsOf(const serve::Routing& routing) const {
  if (routing_ != routing) {
    loads_ = estimate::field::LoadsOf({.tokens = routing.tokens,
                                       .chosen = routing.chosen,
                                       .experts = routing.experts,
                                       .ranks = routing.ranks,
                                       .exponent = routing.exponent});
    routing_ = routing;
  }
  return loads_;
}

StepCost KernelPrices::Matmul(const serve::StepKernel& kernel) const {
  if (!in_field_) return InStream(model_.Time(SpecOf(kernel)), Part::kWeights, kernel.count);
  estimate::field::Matmul matmul{.m = kernel.m, .n = kernel.n, .k = kernel.k, .groups = kernel.b, .in_step = true};
  if (kernel.routing) LoadsOf(*kernel.routing).Group(matmul);
  if (kernel.quantised) {
    matmul.format = activations_.format;
    matmul.weight_bytes = weights_.weight_bytes;
  }
  KernelTime time;
  time.us = estimate::field::TimeOf(chip_, field_, matmul).us;
  time.launch_us = estimate::field::StartUs(chip_, field_.matmul);
  return InStream(time, Part::kWeights, kernel.count);
}

// The rows of the field model start a graph each; a step's layers do not.
StepCost KernelPrices::ExpertRows(const serve::StepKernel& kernel) const {
  KernelTime time;
  estimate::field::ExpertPasses passes{.chosen = kernel.routing->chosen,
                                       .experts = kernel.routing->experts,
                                       .rows = LoadsOf(*kernel.routing).Rows(),
                                       .hidden = kernel.n,
                                       .inner = kernel.k};
  if (kernel.quantised) {
    passes.format = activations_.format;
    passes.weight_bytes = weights_.weight_bytes;
  }
  time.us = std::max(0.0, estimate::field::PassesUs(chip_, field_, passes) - field_.context.graph_start_us);
  return InStream(time, Part::kOther, kernel.count);
}

// Of devices that the field model does not know: TPUs, and GPUs without a rate of 16-bit matmuls.
KernelSpec KernelPrices::SpecOf(const serve::StepKernel& kernel) const {
  KernelSpec spec{.shape = estimate::calibrated::Shape::kGemm, .type = Datatype::kBf16};
  spec.b = kernel.b;
  spec.m = kernel.m;
  spec.n = kernel.n;
  spec.k = kernel.k;
  if (!kernel.quantised) return spec;
  spec.type = activations_.type;
  const double rows = spec.type == Datatype::kBf16 ? kSixteenBits : weights_.activation_bytes;
  spec.operand_bytes = (kernel.n * kernel.k * weights_.weight_bytes + kernel.m * kernel.k * rows) /
                       (kernel.n * kernel.k + kernel.m * kernel.k);
  spec.result_bytes = kSixteenBits;
  return spec;
}

double KernelPrices::OwnAllReduceUs(const serve::StepKernel& kernel, serve::AllReduce kind, double library_us) const {
  const hardware::NetworkDimension& links = system_->dimensions.front();
  const bool mesh = links.kind == hardware::DimensionKind::kFullyConnected;
  const double fraction = constants_.Of(device_.interconnect->name).of(network::Operation::kAllReduce).link_fraction;
  const double n = static_cast<double>(kernel.ranks);
  constexpr double kLinkUnit = 1024.0 * 1024.0 * 1024.0 * 1e-6;  // of System's bandwidths, in bytes/us
  const double rate = links.bandwidth * kLinkUnit * fraction * (mesh ? n - 1 : 1);
  const double latency = links.latency * 1e-3 * kBarrierCrossings;
  const double start = model_.parameters().stream.launch_us + latency;
  const double one_shot = start + kernel.bytes * (n - 1) / rate;
  const double two_shot = start + 2 * kernel.bytes * (n - 1) / n / rate + latency / 2;
  if (kind == serve::AllReduce::kFastest) return std::min({one_shot, two_shot, library_us});
  return kind == serve::AllReduce::kOneShot ? one_shot : two_shot;
}

double KernelPrices::CollectiveUs(const serve::StepKernel& kernel) const {
  const network::Price price =
      links_->PriceOf({.op = OperationOf(kernel.kind), .bytes = kernel.bytes}, Members(kernel.ranks));
  const double library = price.time.seconds() * 1e6;
  const bool one_node = system_->dimensions.front().npus >= kernel.ranks;
  if (kernel.kind != KernelKind::kAllReduce || !device_.interconnect || !one_node) return library;
  const serve::AllReduce kind = all_reduces_.KindOf(kernel.bytes, kernel.ranks, device_.interconnect->name);
  return kind == serve::AllReduce::kLibrary ? library : OwnAllReduceUs(kernel, kind, library);
}

StepCost KernelPrices::CostOf(const serve::StepKernel& kernel) const {
  if (kernel.kind == KernelKind::kMatmul) return Matmul(kernel);
  if (kernel.kind == KernelKind::kExpertRows && in_field_) return ExpertRows(kernel);
  if (kernel.kind == KernelKind::kTraffic || kernel.kind == KernelKind::kExpertRows) {
    const KernelSpec spec{.shape = estimate::calibrated::Shape::kTraffic, .bytes = kernel.bytes};
    return InStream(model_.Time(spec), Part::kOther, kernel.count);
  }
  StepCost cost;
  if (!links_) return cost;
  cost.seconds = kernel.count * CollectiveUs(kernel) * 1e-6;
  cost.parts[static_cast<size_t>(Part::kCollectives)] = cost.seconds;
  return cost;
}

StepCost KernelPrices::CostOf(const serve::AttentionCall& call) const {
  return InStream(AttentionTime(call, in_field_, chip_, field_), Part::kAttention, call.count);
}

double KernelPrices::sigma(serve::Part part) const {
  const double calibrated = model_.parameters().sigma[0];
  switch (part) {
    case Part::kWeights:
      return in_field_ ? field_.matmul.sigma : calibrated;
    case Part::kAttention:
      return field_.generation.sigma;
    case Part::kCollectives:
      return links_ ? links_->sigma() : 0;
    case Part::kOther:
      return calibrated;
    default:
      return 0;  // the engine's
  }
}

double KernelPrices::HostSeconds(double bytes) const {
  constexpr double kPcie4 = 32e9;  // 16 lanes, where the device file states no link to the host
  return bytes / (device_.host_bandwidth ? device_.host_bandwidth->value : kPcie4);
}

double KernelPrices::LinkSeconds(double bytes) const {
  if (!links_) return 0;
  const std::vector<uint32_t> ends = {0, static_cast<uint32_t>(system_->npus() - 1)};
  return links_->PriceOf({.op = network::Operation::kPermute, .bytes = bytes}, ends).time.seconds();
}

}  // namespace hespas::driver
