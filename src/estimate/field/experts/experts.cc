#include "estimate/field/experts/experts.h"

#include <algorithm>
#include <cmath>

#include "estimate/field/attention.h"
#include "estimate/field/experts/expert_loads.h"

namespace hespas::estimate::field {
namespace {

constexpr double kRowBytes = 2;

double Extent(double x) { return std::isfinite(x) ? std::clamp(x, 1.0, 1e9) : 1.0; }

// RenormalizeMoeRoutingMethod of TensorRT-LLM 1.3.0rc20 (_torch/modules/fused_moe/routing.py): one kernel routes a
// token to up to 16 of up to 512 experts, PyTorch's operations to others.
bool RoutesByPyTorch(const ExpertPasses& passes) {
  constexpr double kMostExperts = 512, kMostChosen = 16;
  return passes.experts > kMostExperts || passes.chosen > kMostChosen;
}

// TensorRT-LLM's fused_moe_cutlass.py: rows get one scale, or those of nvfp4, before the layer's own kernels. Scales of
// blocks are made within them on Hopper, and before DeepGEMM's on Blackwell; 4-bit weights' kernels of trtllm-gen take
// rows with few starts.
bool QuantisesApart(const Chip& chip, const ExpertPasses& passes) {
  if (passes.format == Format::kF8Block) return chip.scaled_instructions;
  const bool narrow_weights = passes.weight_bytes > 0 && passes.weight_bytes < 1;
  return passes.format == Format::kNvF4 || (passes.format == Format::kF8 && !narrow_weights);
}

double StartClocks(const Chip& chip, const ExpertConstants& own, const ExpertPasses& passes) {
  return own.start_clocks + (RoutesByPyTorch(passes) ? own.routing_clocks : 0) +
         (QuantisesApart(chip, passes) ? own.quantising_clocks : 0);
}

}  // namespace

double PassesUs(const Chip& chip, const Constants& constants, const ExpertPasses& passes) {
  const ExpertConstants& own = constants.experts;
  const double quantised = passes.format == Format::kF16 ? 0 : own.quantised_passes;
  double elements = (own.token_passes + quantised) * passes.hidden + own.inner_passes * passes.matrices * passes.inner;
  // Matrix instructions that take no scales get rows with scales of blocks from further kernels.
  if (passes.format == Format::kF8Block && !chip.scaled_instructions) elements *= own.block_factor;
  const double row_bytes = passes.rows * kRowBytes;
  const double touched = row_bytes * (2 * passes.hidden + (passes.matrices + 1) * passes.inner);
  return StartClocks(chip, own, passes) / chip.clock + row_bytes * elements * UsOfByteBetween(chip, constants, touched);
}

Time TimeOf(const Chip& chip, const Constants& constants, const ExpertLayer& row) {
  ExpertLayer layer = row;
  for (double* value :
       {&layer.tokens, &layer.hidden, &layer.inner, &layer.chosen, &layer.experts, &layer.tensor, &layer.ranks}) {
    *value = Extent(*value);
  }
  const ExpertLoads loads = LoadsOf(layer);
  const double inner = std::max(1.0, layer.inner / layer.tensor);
  Matmul up{.format = layer.format, .n = inner * (layer.gated ? 2 : 1), .k = layer.hidden};
  loads.Group(up);
  up.weight_bytes = layer.weight_bytes;
  up.in_step = true;
  up.weights_between = up.groups * layer.hidden * inner * (layer.gated ? 3 : 2);
  Matmul down = up;
  down.n = layer.hidden;
  down.k = inner;
  const ExpertPasses passes{.format = layer.format,
                            .weight_bytes = layer.weight_bytes,
                            .chosen = layer.chosen,
                            .experts = layer.experts,
                            .rows = loads.Rows(),
                            .hidden = layer.hidden,
                            .inner = inner,
                            .matrices = layer.gated ? 2.0 : 1.0};
  const double us =
      TimeOf(chip, constants, up).us + TimeOf(chip, constants, down).us + PassesUs(chip, constants, passes);
  return {.us = us, .sigma_us = us * constants.experts.sigma};
}

}  // namespace hespas::estimate::field
