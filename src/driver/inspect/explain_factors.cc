#include "driver/inspect/explain_factors.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "estimate/calibrated/command_buffers.h"
#include "estimate/calibrated/kernel_terms.h"
#include "estimate/composite.h"

namespace hespas::driver {
namespace {

namespace calibrated = estimate::calibrated;
using report::Parameter;

std::string Micro(double us) { return report::HumanTime(Time::Seconds(us * 1e-6)); }
std::string Rate(double bytes_per_us) {
  return report::HumanBytes(Bytes(internal::SaturatingRound(bytes_per_us * 1e6))) + "/s";
}

class Factors {
 public:
  Factors(const calibrated::KernelModel& model, const calibrated::CommandBuffers& buffers)
      : model_(model), between_us_(calibrated::BetweenUs(model.parameters().stream, buffers)) {}

  void Add(const calibrated::KernelTerms& terms) {
    for (const calibrated::MatmulTerms& matmul : terms.matmuls) AddMatmul(matmul);
    if (terms.traffic) AddTraffic(*terms.traffic);
    if (terms.rest_bytes > 0)
      Row("epilogue's own traffic", Micro(terms.rest_bytes / model_.memory_rate()),
          "bytes beside the matmul's / sustained rate");
    if (terms.own)
      Row("matrix arithmetic", Micro(terms.matrix_us), "peak rate x gemm.sustained_fraction; cuDNN: field model");
    if (terms.own && terms.host_us > 0) Row("host link", Micro(terms.host_us), "host_bandwidth");
    if (terms.wait_us > 0) Row("steps that wait", Micro(terms.wait_us), "elementwise.launch_us for each");
    if (terms.floor_us > 0) Row("least time", Micro(terms.floor_us), "arithmetic at the datasheet's rates");
  }

  std::vector<Parameter> Take() { return std::move(rows_); }

 private:
  void Row(std::string name, std::string value, std::string source) {
    rows_.push_back({std::move(name), std::move(value), std::move(source)});
  }

  void AddLaunch(double alone_us, double between_us, std::string_view source) {
    Row("launch", Micro(std::min(alone_us, between_us)),
        fmt::format("{}; {} for a lone kernel", source, Micro(alone_us)));
  }

  void AddMatmul(const calibrated::MatmulTerms& matmul) {
    const double power = matmul.sharp ? 8 : 4;
    const double memory = matmul.traffic.held_us + matmul.traffic.rest_us;
    const auto total = [&](const calibrated::Tiling& t) {
      const double largest = std::max({t.waves_us, t.rate_us, t.l2_us, memory, 1e-12});
      double sum = 0;
      for (const double part : {t.waves_us, t.rate_us, t.l2_us, memory}) sum += std::pow(part / largest, power);
      return largest * std::pow(sum, 1 / power) + t.apart_us;
    };
    const auto best = std::ranges::min_element(matmul.tilings, {}, total);
    if (best == matmul.tilings.end()) return;
    AddLaunch(matmul.launch_us, model_.parameters().stream.launch_us, "stream.launch_us");
    Row("waves of tiles", Micro(best->waves_us), "tile on one SM at boost clock x sm_fraction, x waves over the SMs");
    Row("sustained arithmetic", Micro(best->rate_us), "peak rate x sustained_fraction, with padding to tiles");
    Row("operands from L2", Micro(best->l2_us), "l2_bytes_per_clock x SMs x clock");
    Row("memory traffic", Micro(memory), "memory bandwidth x memory_fraction");
    Row("stores and reduction", Micro(best->apart_us), "store_ratio; nothing hides them");
    Row("combined", Micro(total(*best)),
        fmt::format("root {:.0f} of the sum of the first four to that power, + stores", power));
  }

  void AddTraffic(const calibrated::TrafficTerms& traffic) {
    const calibrated::Machine& machine = model_.machine();
    const bool plain = between_us_ == model_.parameters().stream.launch_us;
    AddLaunch(model_.parameters().memory.launch_us, between_us_,
              plain ? "stream.launch_us" : "stream.launch_us, less in CUDA graphs");
    Row("sustained memory rate", Rate(model_.memory_rate()),
        fmt::format("{:.1f} % of the datasheet's {}", 100 * model_.memory_rate() / machine.memory_rate,
                    Rate(machine.memory_rate)));
    Row("share held by L2", report::HumanPercent(traffic.hits), "bytes against l2_capacity");
    Row("instructions", Micro(traffic.lanes_us),
        "weights of the operations / lanes x SMs x clock x issue_fraction or streamed_fraction");
    Row("special functions", Micro(traffic.special_us), "exponentials and the like / their units");
  }

  const calibrated::KernelModel& model_;
  double between_us_;
  std::vector<Parameter> rows_;
};

}  // namespace

std::vector<Parameter> FactorsOf(const Finished& run, const RunOptions& options, graph::BlockId id) {
  const auto& shared = calibrated::DefaultParameters();
  if (!shared || options.compat || options.estimate.custom || options.estimate.estimator != "calibrated") return {};
  const calibrated::KernelModel model(run.prepared.device, *shared);
  const ir::Module& module = *run.prepared.module;
  Factors factors(model, CommandBuffersOf(options.optimise, module));
  for (const ir::OpId op : run.prepared.blocks.blocks[id.index()].ops) {
    if (estimate::IsCompositeOp(module, op)) return {};
    if (module.kind(op) == ir::OpKind::kReshape) continue;
    const auto terms = calibrated::TermsOf(model, run.prepared.device, calibrated::LeafFactsOf(module, op));
    if (terms) factors.Add(*terms);
  }
  return factors.Take();
}

}  // namespace hespas::driver
