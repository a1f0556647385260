#include "estimate/calibrated/kernel_terms.h"

#include "estimate/arithmetic.h"
#include "estimate/calibrated/own_kernels.h"

namespace hespas::estimate::calibrated {
namespace {

MatmulTerms Of(const KernelModel& model, const KernelSpec& kernel) {
  const KernelModel::SizedMatmul sized = model.Sized(kernel);
  return {.tilings = TilingsOf(*sized.tiles, sized.size),
          .traffic = TrafficOf(*sized.tiles, sized.size),
          .launch_us = sized.tiles->launch_us,
          .sharp = sized.tiles->sharp,
          .lanes = !sized.tiles->sharp,
          .batched = sized.batched};
}

TrafficTerms Of(const KernelModel& model, double bytes, const Instructions& work) {
  const Machine& machine = model.machine();
  const double rate = machine.sms * machine.clock * model.parameters().memory.Issue(work.streamed);
  return {.bytes = bytes,
          .hits = model.InL2(bytes),
          .lanes_us = work.lanes / machine.lanes / rate,
          .special_us = work.special / machine.special_lanes / rate};
}

// As Calibrated::KernelWork.
void AddKernel(const KernelModel& model, const hardware::Device& device, const LeafFacts& facts, KernelTerms& terms) {
  const auto bytes = static_cast<double>(facts.cost.bytes);
  const bool scaled_dot = facts.scaled_dot && PricedByField(device, facts);
  terms.own = scaled_dot || (facts.cost.own_kernel && !facts.fusion);
  const bool matmuls = !facts.matmuls.empty() && !terms.own;
  if (!matmuls) {
    terms.traffic = Of(model, bytes, scaled_dot ? Instructions{} : facts.instructions);
  } else {
    terms.rest_bytes = facts.fusion ? bytes : 0;
    for (const Matmul& matmul : facts.matmuls) {
      const KernelSpec kernel = matmul.On(model.machine());
      terms.matmuls.push_back(Of(model, kernel));
      if (!facts.fusion) break;
      terms.rest_bytes -= model.Time(kernel).bytes;
    }
  }
  if (!terms.own) return;
  terms.matrix_us = MatrixUs(model, device, facts);
  terms.host_us = HostSeconds(device, facts.cost) * 1e6;
}

}  // namespace

std::optional<KernelTerms> TermsOf(const KernelModel& model, const hardware::Device& device, const LeafFacts& facts) {
  if (facts.cost.bytes == 0 && facts.cost.flops == 0) return std::nullopt;
  KernelTerms terms;
  AddKernel(model, device, facts, terms);
  terms.wait_us = facts.cost.steps * model.parameters().memory.launch_us;
  terms.floor_us = SecondsOn(model.machine(), facts.arithmetic) * 1e6;
  return terms;
}

}  // namespace hespas::estimate::calibrated
