#include "driver/serving/search/search_bounds.h"

#include <algorithm>
#include <cmath>

namespace hespas::driver {
namespace {

std::optional<double> Constant(const std::string& length) {
  const auto parsed = serve::Length::Parse(length);
  if (!parsed || parsed->Longest() != parsed->Mean()) return std::nullopt;
  return std::max(1.0, parsed->Mean());
}

// Requests that one engine holds at a time once their prompts are computed.
double Held(const Server& server, double input) {
  const serve::Policy& policy = server.engine.policy;
  const double slots = static_cast<double>(policy.max_requests * policy.stages);
  if (policy.blocks == 0 || policy.prefix_hit > 0) return slots;
  const auto kept = static_cast<double>(policy.window.Kept(std::llround(input)));
  const double blocks = std::ceil(kept / static_cast<double>(policy.block));
  return std::min(slots, static_cast<double>(policy.blocks) / blocks);
}

}  // namespace

SearchBounds BoundsOf(const Server& server, const serve::Load& load) {
  SearchBounds bounds;
  const auto input = Constant(load.input);
  const auto output = Constant(load.output);
  if (!input || !output) return bounds;
  const serve::Policy& policy = server.engine.policy;
  const auto tokens_of_step = static_cast<double>(1 + policy.speculation.drafts);
  const double rows =
      static_cast<double>(policy.max_tokens) + *input + static_cast<double>(policy.max_requests) * tokens_of_step;
  const serve::StepFloors floors = server.steps->Floors(rows);
  if (floors.row_s <= 0 || floors.step_s <= 0) return bounds;
  const double more = *output - 1;  // tokens after the first one
  const double prompt_rows = policy.prefix_hit > 0 ? 1 : *input;
  const auto stages = static_cast<double>(policy.stages);  // that work on steps of their own
  const bool apart = server.layout.prefill > 0;
  const auto engines = static_cast<double>(apart ? server.layout.decode : server.layout.replicas);
  bounds.requests_per_s = engines * stages / (floors.row_s * ((apart ? 0 : prompt_rows) + more));
  if (apart) {
    const double prompts = static_cast<double>(server.layout.prefill) * stages / (floors.row_s * prompt_rows);
    bounds.requests_per_s = std::min(bounds.requests_per_s, prompts);
  }
  if (more > 0) {
    bounds.tokens_per_s_per_user = tokens_of_step / floors.step_s;
    const double held_s = more / tokens_of_step * floors.step_s;
    bounds.requests_per_s = std::min(bounds.requests_per_s, engines * Held(server, *input) / held_s);
  }
  return bounds;
}

}  // namespace hespas::driver
