#include "base/text/json.h"

#include <nlohmann/json.hpp>

#include "goodput/answer/text.h"
#include "goodput/make_plan.h"

namespace hespas::goodput {
namespace {

using Json = nlohmann::ordered_json;

Json AsJson(const Spread& s) {
  return {{"mean", s.mean}, {"sigma", s.sigma}, {"p5", s.p5}, {"p50", s.p50}, {"p95", s.p95}};
}
Json AsJson(const std::optional<Spread>& s) { return s ? AsJson(*s) : Json(); }

Json CheckpointJson(const Answer& a) {
  const Checkpoint& c = a.plan.checkpoint;
  return {{"kind", a.options.checkpoint},
          {"bytes", a.checkpoint_bytes},
          {"interval_s", c.interval},
          {"pause_s", c.stall},
          {"write_s", c.lag},
          {"persist_every", c.tiers ? Json(c.persist_every) : Json()},
          {"persist_write_s", c.tiers ? Json(c.persist_lag) : Json()},
          {"young_s", a.young},
          {"daly_s", a.daly},
          {"best_s", a.best}};
}

Json FailureJson(const Answer& a) {
  Json components = Json::array();
  for (const Component& c : a.components)
    components.push_back({{"name", c.name}, {"per_day", c.rate}, {"hardware", c.hardware}});
  return {{"mtbf_s", a.plan.mtbf()},
          {"weibull_shape", a.plan.failures.shape},
          {"hardware_fraction", a.plan.failures.hardware},
          {"recovery_s", a.plan.MeanRecovery()},
          {"source", a.failures_from},
          {"components", components}};
}

Json PowerJson(const Answer& a) {
  if (!a.power) return {};
  return {{"device_w", a.power->device_w},
          {"node_w", a.power->node_w},
          {"node_pause_w", a.power->pause_w},
          {"clock", a.power->clock},
          {"step_time_factor", a.power->step}};
}

Json SettingsJson(const Answer& a) {
  Json out = Json::object();
  for (const SettingInfo& info : kSettings) {
    const SettingValue& value = a.settings.At(info.setting);
    out[std::string(info.name)] = {{"value", value.value}, {"kind", value.kind}, {"source", value.source}};
  }
  return out;
}

Json CurveJson(const std::vector<CurvePoint>& points, const char* at) {
  Json out = Json::array();
  for (const CurvePoint& p : points)
    out.push_back({{at, p.at}, {"closed_form_s", p.closed}, {"simulated_s", p.simulated}});
  return out;
}

Json ScaleJson(const Curves& curves) {
  Json out = Json::array();
  for (const ScalePoint& p : curves.devices)
    out.push_back({{"devices", p.devices},
                   {"step_time_s", p.answer.step.seconds},
                   {"wall_clock_s", AsJson(p.answer.wall)},
                   {"goodput", AsJson(p.answer.goodput)},
                   {"energy_j", AsJson(p.answer.energy)},
                   {"cost", AsJson(p.answer.cost)}});
  return out;
}

}  // namespace

std::string ToJson(const Answer& a, const Curves* curves, const std::string& command, int indent) {
  Json waterfall = Json::array();
  for (const Bottleneck& part : a.waterfall) waterfall.push_back({{"name", part.name}, {"seconds", part.seconds}});
  Json json{{"schema_version", 1},
            {"program", a.step.program},
            {"device", a.step.device},
            {"devices", a.step.devices},
            {"nodes", a.plan.pool.nodes},
            {"spares", a.plan.pool.spares},
            {"unit", a.step.unit},
            {"tokens", a.options.tokens},
            {"tokens_per_step", a.step.batch},
            {"steps", a.steps},
            {"step_time_s", a.step.seconds},
            {"step_time_sigma_s", a.step.sigma * a.step.seconds},
            {"ideal_s", a.ideal},
            {"straggler_factor", a.straggling},
            {"failures", FailureJson(a)},
            {"checkpoint", CheckpointJson(a)},
            {"closed_form", {{"wall_clock_s", a.closed_form.wall}, {"exact", a.closed_form.exact}}},
            {"runs", a.options.runs},
            {"seed", a.options.seed},
            {"wall_clock_s", AsJson(a.wall)},
            {"goodput", AsJson(a.goodput)},
            {"tokens_per_day", AsJson(a.tokens_per_day)},
            {"failure_count", AsJson(a.failures)},
            {"power", PowerJson(a)},
            {"energy_j", AsJson(a.energy)},
            {"co2_kg", AsJson(a.carbon)},
            {"cost", AsJson(a.cost)},
            {"currency", a.step.price ? Json(a.step.price->currency) : Json()},
            {"waterfall", waterfall},
            {"unknown", a.unknown},
            {"settings", SettingsJson(a)}};
  if (curves != nullptr) {
    json["by_mtbf"] = CurveJson(curves->mtbf, "mtbf_s");
    json["by_interval"] = CurveJson(curves->interval, "interval_s");
    json["by_devices"] = ScaleJson(*curves);
    json["knee_devices"] = curves->knee > 0 ? Json(curves->knee) : Json();
  }
  json["reproduce"] = {{"command", command}};
  return JsonText(json, indent) + (indent < 0 ? "" : "\n");
}

}  // namespace hespas::goodput
