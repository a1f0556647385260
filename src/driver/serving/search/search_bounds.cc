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

// Requests that decode in one step of a lane.
int64_t DecodesOf(const serve::Policy& policy, double input) {
  if (policy.blocks == 0 || policy.prefix_hit > 0) return policy.max_requests;
  const int64_t kept = policy.window.Kept(std::llround(input));
  const int64_t blocks = (kept + policy.block - 1) / policy.block;
  return std::clamp<int64_t>(policy.blocks / policy.stages / std::max<int64_t>(blocks, 1), 1, policy.max_requests);
}

// Rows of prompts that steps with any have at least, and the share of all rows that are in such steps: whole prompts,
// or what the budget leaves them. What a full step cuts off a prompt may come alone.
struct PromptSteps {
  double rows = 1;
  double share = 0;
};

PromptSteps PromptStepsOf(const serve::Policy& policy, double input, double decode_rows) {
  if (policy.prefix_hit > 0) return {};
  if (!policy.scheduler.chunked) return {.rows = input, .share = 1};
  const double full = static_cast<double>(policy.max_tokens) - decode_rows;
  if (full < 1) return {};
  const double least = std::min(input, full);
  return {.rows = least, .share = full / (full + least)};
}

}  // namespace

// Keeps the lower hull, up to the least of an engine's time.
void SearchBounds::AddCorner(Corner corner) {
  if (!hull_.empty() && corner.engine_s >= hull_.back().engine_s) return;
  const auto above = [&](const Corner& a, const Corner& b) {  // b lies above the line from a to the new corner
    return (b.engine_s - a.engine_s) * (corner.tpot_s - a.tpot_s) >=
           (corner.engine_s - a.engine_s) * (b.tpot_s - a.tpot_s);
  };
  while (hull_.size() > 1 && above(hull_[hull_.size() - 2], hull_.back())) hull_.pop_back();
  hull_.push_back(corner);
}

double SearchBounds::EngineSeconds(double tpot_s) const {
  const auto next = std::find_if(hull_.begin(), hull_.end(), [&](const Corner& c) { return c.tpot_s > tpot_s; });
  if (next == hull_.begin()) return std::numeric_limits<double>::infinity();
  const Corner& before = *(next - 1);
  if (next == hull_.end()) return before.engine_s;
  const double part = (tpot_s - before.tpot_s) / (next->tpot_s - before.tpot_s);
  return before.engine_s + part * (next->engine_s - before.engine_s);
}

double SearchBounds::RequestsPerS(double tpot_s, double parts) const {
  if (hull_.empty()) return parts * most_;
  const double engine_s = prompt_s_ + tokens_ * EngineSeconds(tpot_s);
  return parts * std::min(most_, engines_ / engine_s / kept_);
}

bool SearchBounds::Beaten(std::vector<std::pair<double, double>> points, double parts) const {
  std::sort(points.begin(), points.end());
  double requests = 0;
  for (size_t i = 0; i < points.size(); ++i) {
    if (i == 0 && (hull_.empty() || hull_.front().tpot_s < points[i].first)) return false;
    if (points[i].first > longest_tpot_s_) break;
    requests = std::max(requests, points[i].second);
    const double slower = i + 1 < points.size() ? points[i + 1].first : longest_tpot_s_;
    if (RequestsPerS(std::min(slower, longest_tpot_s_), parts) >= requests) return false;  // at a speed up to there
  }
  return requests > 0;
}

SearchBounds BoundsOf(const Server& server, const serve::Load& load, std::optional<double> tpot_s) {
  SearchBounds bounds;
  const auto input = Constant(load.input);
  const auto output = Constant(load.output);
  if (!input || !output) return bounds;
  const serve::Policy& policy = server.engine.policy;
  const auto tokens_of_step = static_cast<double>(1 + policy.speculation.drafts);
  const auto slots = static_cast<double>(policy.max_requests) * tokens_of_step;
  const int64_t requests = std::max(load.requests.value_or(0), kMostSearchRequests);  // of a run: no more can decode
  serve::StepRange range{
      .requests = std::min(DecodesOf(policy, *input), requests), .rows_each = tokens_of_step, .context = *input};
  const PromptSteps prompts = PromptStepsOf(policy, *input, static_cast<double>(range.requests) * tokens_of_step);
  range.prompt_rows = prompts.rows;
  range.rows = static_cast<double>(policy.max_tokens) + *input + slots;
  range.sampled_rows = slots;
  const serve::StepFloors floors = server.steps->Floors(range);
  if (floors.row_s <= 0 || floors.decode_s.empty()) return bounds;
  const double more = *output - 1;  // tokens after the first one
  const double prompt_rows = policy.prefix_hit > 0 ? 1 : *input;
  const auto stages = static_cast<double>(policy.stages);  // that work on steps of their own
  const bool apart = server.layout.prefill > 0;
  bounds.engines_ = static_cast<double>(apart ? server.layout.decode : server.layout.replicas);
  bounds.most_ = bounds.engines_ * stages / (floors.row_s * ((apart ? 0 : prompt_rows) + more));
  if (apart) {
    const double rate = static_cast<double>(server.layout.prefill) * stages / (floors.row_s * prompt_rows);
    bounds.most_ = std::min(bounds.most_, rate);
  }
  if (more <= 0) return bounds;
  const bool recomputes = policy.blocks > 0 && policy.scheduler.admission != serve::Admission::kReserve;
  if (recomputes && floors.row_s * *input < floors.decode_s.back() / stages / static_cast<double>(range.requests))
    return bounds;  // a prompt computed again may be the cheaper way to a token
  const serve::Overheads& host = policy.overheads;
  bounds.tokens_ = more;
  if (!apart) bounds.prompt_s_ = prompts.share * floors.prompt_row_s * prompt_rows / stages;
  for (int64_t i = 1; i <= range.requests; ++i) {
    const auto n = static_cast<double>(i);
    const double between = host.step_s + (host.asynchronous ? 0 : host.request_s * n);
    const double step = floors.decode_s[static_cast<size_t>(i - 1)];
    const double engine = std::max(between + step / stages, (between + step) / stages);  // a lane has one at a time
    bounds.AddCorner({.tpot_s = (between + step) / tokens_of_step, .engine_s = engine / n / tokens_of_step});
  }
  if (tpot_s) {
    const auto fewest = static_cast<double>(load.requests.value_or(kSearchRequests));
    bounds.kept_ = std::max(0.5, 1 - 0.01 - 1 / std::max(fewest, 1.0));
    bounds.longest_tpot_s_ = *tpot_s;
  }
  bounds.most_ = bounds.RequestsPerS(bounds.longest_tpot_s_, 1);
  return bounds;
}

}  // namespace hespas::driver
