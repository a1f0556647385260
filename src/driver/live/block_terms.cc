#include "driver/live/block_terms.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "driver/stages/cost/power_limit.h"
#include "estimate/calibrated/command_buffers.h"
#include "estimate/calibrated/kernel_terms.h"
#include "estimate/composite.h"

namespace hespas::driver {
namespace {

using Json = nlohmann::json;
namespace calibrated = estimate::calibrated;

Json TermObject(const calibrated::MatmulTerms& matmul) {
  Json tilings = Json::array();
  for (const calibrated::Tiling& t : matmul.tilings) tilings.push_back({t.waves_us, t.rate_us, t.l2_us, t.apart_us});
  return {{"tilings", std::move(tilings)},
          {"held", matmul.traffic.held_us},
          {"rest", matmul.traffic.rest_us},
          {"launch", matmul.launch_us},
          {"unit", !matmul.lanes    ? "matrix"
                   : matmul.batched ? "batched"
                                    : "linear"}};
}

Json TermObject(const calibrated::KernelTerms& terms) {
  Json out = Json::object();
  Json matmuls = Json::array();
  for (const calibrated::MatmulTerms& matmul : terms.matmuls) matmuls.push_back(TermObject(matmul));
  if (!matmuls.empty()) out["matmuls"] = std::move(matmuls);
  if (terms.traffic)
    out["traffic"] = {terms.traffic->bytes, terms.traffic->hits, terms.traffic->lanes_us, terms.traffic->special_us};
  if (terms.rest_bytes > 0) out["rest"] = terms.rest_bytes;
  if (terms.own) out["own"] = {terms.matrix_us, terms.host_us};
  if (terms.wait_us > 0) out["wait"] = terms.wait_us;
  if (terms.floor_us > 0) out["floor"] = terms.floor_us;
  return out;
}

// nullopt: it holds what no term describes.
std::optional<Json> KernelsOf(const Prepared& prepared, const graph::Block& block,
                              const calibrated::KernelModel& model) {
  Json kernels = Json::array();
  for (const ir::OpId op : block.ops) {
    if (estimate::IsCompositeOp(*prepared.module, op)) return std::nullopt;
    if (prepared.module->kind(op) == ir::OpKind::kReshape) continue;
    const auto terms = calibrated::TermsOf(model, prepared.device, calibrated::LeafFactsOf(*prepared.module, op));
    if (terms) kernels.push_back(TermObject(*terms));
  }
  return kernels;
}

}  // namespace

Json MachineTerms(const OptimiseOptions& options, const Prepared& prepared) {
  const hardware::Device& device = prepared.device;
  const auto& shared = calibrated::DefaultParameters();
  if (!shared) return nullptr;
  const calibrated::KernelModel model(device, *shared);
  const calibrated::Machine& machine = model.machine();
  const calibrated::Parameters& parameters = model.parameters();
  const bool proportional = parameters.memory.own_fraction > 0 || machine.gddr;
  const bool fixed_share = machine.sm_share == calibrated::Machine().sm_share;
  const bool follows = machine.issue_share == std::min(1.0, machine.lanes / machine.issue_lanes);
  const auto limit = [&](const calibrated::LaneConstants& lanes) {
    return machine.tdp_w > 0 ? Json(calibrated::LaneRate(machine, lanes).limit) : Json(nullptr);
  };
  const std::optional<double> power = MatrixPower(device);
  return {{"peak_flops", device.peak_flops.value},
          {"matrix_power", power ? Json(*power) : Json(nullptr)},
          {"other_power", kOtherShare},
          {"vector_rate", device.VectorRateFor("f32").value},
          {"memory_bandwidth", device.memory_bandwidth.value},
          {"memory_capacity", device.memory_capacity ? Json(device.memory_capacity->value) : Json(nullptr)},
          {"stream_us", parameters.stream.launch_us},
          {"between_us", calibrated::BetweenUs(parameters.stream, CommandBuffersOf(options, *prepared.module))},
          {"kernel_us", parameters.memory.launch_us},
          {"plain_rate", machine.memory_rate},
          {"memory_rate", model.memory_rate()},
          {"rate_share", proportional || fixed_share ? 0 : machine.sm_share / parameters.memory.hbm_bytes_per_clock},
          {"rate_exponent", calibrated::kShareExponent},
          {"gemm_fraction", parameters.gemm.memory_fraction},
          {"l2_rate", machine.sms * machine.clock * parameters.memory.l2_bytes_per_clock},
          {"lanes", machine.lanes},
          {"whole_lanes", device.lanes_per_sm.has_value()},
          {"special_follows", !device.special_lanes_per_sm && device.family != "gpu"},
          {"issue_lanes", follows ? Json(machine.issue_lanes) : Json(nullptr)},
          {"issue_share", machine.issue_share},
          {"linear_rate", calibrated::LaneRate(machine, parameters.linear).unlimited},
          {"batched_rate", calibrated::LaneRate(machine, parameters.batched).unlimited},
          {"linear_limit", limit(parameters.linear)},
          {"batched_limit", limit(parameters.batched)}};
}

Json BlockTerms(const Prepared& prepared, const Estimated& estimated) {
  const auto& shared = calibrated::DefaultParameters();
  Json rows = Json::array();
  if (!shared) return rows;
  const calibrated::KernelModel model(prepared.device, *shared);
  for (const graph::BlockId first : estimated.table.first) {
    auto kernels = KernelsOf(prepared, prepared.blocks.blocks[first.index()], model);
    rows.push_back(kernels ? std::move(*kernels) : Json(nullptr));
  }
  return rows;
}

}  // namespace hespas::driver
