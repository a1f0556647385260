#include "estimate/field/noise.h"

#include <algorithm>
#include <cmath>

namespace hespas::estimate::field {
namespace {

// Of two campaigns: up to 50 us, from 500 us on, and by the logarithm between. Of two libraries at every length.
// All are what the measurers' own campaigns show (ai-dynamo/aiconfigurator@095f58a51c4c, versions side by side):
// matmuls 1.5 to 4 % and 3 to 10 %; prompts 2 to 12 %, new tokens 4 to 12 %, vLLM 0.82 of TensorRT-LLM's time;
// layers of experts 15 to 23 %, one library alone.
struct Spread {
  double shortest, longest, libraries;
};
constexpr Spread kMatmulSpread = {0.015, 0.04, 0.065};
constexpr Spread kContextSpread = {0.02, 0.12, 0.18};
constexpr Spread kGenerationSpread = {0.08, 0.08, 0.18};
constexpr Spread kExpertsSpread = {0.19, 0.19, 0};
constexpr double kShortUs = 50, kLongUs = 500;

const Spread& SpreadOf(const Call& call) {
  if (std::holds_alternative<Matmul>(call)) return kMatmulSpread;
  if (std::holds_alternative<ExpertLayer>(call)) return kExpertsSpread;
  return std::get<AttentionCall>(call).phase == Phase::kGeneration ? kGenerationSpread : kContextSpread;
}

// Half of what one and five copies of the weights are apart, which campaigns of L40S were: 10 to 50 %.
double CopiesNoise(const Chip& chip, const Constants& constants, const Matmul& matmul) {
  constexpr double kMostCopies = 5;
  Matmul one = matmul;
  one.weights_between = matmul.n * matmul.k;
  Matmul five = one;
  five.weights_between *= kMostCopies;
  return std::log(TimeOf(chip, constants, five).us / TimeOf(chip, constants, one).us) / 2;
}

}  // namespace

std::string_view FamilyOf(const Call& call) {
  if (std::holds_alternative<ExpertLayer>(call)) return "experts";
  if (const auto* attention = std::get_if<AttentionCall>(&call)) {
    return attention->phase == Phase::kGeneration ? "attention_generation" : "attention_context";
  }
  constexpr std::string_view kFormats[] = {"matmul", "fp8", "fp8_block", "nvfp4"};
  return kFormats[static_cast<size_t>(std::get<Matmul>(call).format)];
}

double NoiseOf(const Chip& chip, const Constants& constants, const Call& call, double us) {
  const Spread& spread = SpreadOf(call);
  const double longer = std::clamp(std::log(us / kShortUs) / std::log(kLongUs / kShortUs), 0.0, 1.0);
  const double campaigns = spread.shortest + (spread.longest - spread.shortest) * longer;
  const auto* matmul = std::get_if<Matmul>(&call);
  return std::hypot(campaigns, spread.libraries, matmul != nullptr ? CopiesNoise(chip, constants, *matmul) : 0);
}

}  // namespace hespas::estimate::field
