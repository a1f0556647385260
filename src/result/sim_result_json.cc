#include "result/sim_result_json.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "base/text/json.h"

namespace hespas::result {
namespace {

using nlohmann::json;

constexpr std::pair<const char*, std::optional<uint64_t> RankResult::*> kTicks[] = {
    {"wall", &RankResult::wall},
    {"gpu", &RankResult::gpu},
    {"comm", &RankResult::comm},
    {"overlap", &RankResult::overlap},
    {"memory", &RankResult::peak_memory}};

json RankJson(const RankResult& rank) {
  json out = {{"finish", rank.finish}, {"exposed", rank.exposed}};
  for (const auto& [key, member] : kTicks) {
    if (rank.*member) out[key] = *(rank.*member);
  }
  if (const auto& r = rank.roofline)
    out["roofline"] = {r->compute_bound, r->compute_utilisation, r->memory_utilisation, r->operation_intensity};
  return out;
}

RankResult ReadRank(const json& in) {
  RankResult rank{.finish = in.at("finish"), .exposed = in.at("exposed")};
  for (const auto& [key, member] : kTicks) {
    if (in.contains(key)) rank.*member = in[key].get<uint64_t>();
  }
  if (in.contains("roofline")) {
    const json& r = in["roofline"];
    rank.roofline = {r.at(0), r.at(1), r.at(2), r.at(3)};
  }
  return rank;
}

}  // namespace

std::string EncodeSimResult(const SimResult& result) {
  json out = {{"tick", result.tick.value}, {"order", result.order},   {"messages", result.messages},
              {"events", result.events},   {"method", result.method}, {"ranks", json::array()}};
  for (const RankResult& rank : result.ranks) out["ranks"].push_back(RankJson(rank));
  for (const NodeInterval& at : result.intervals) out["intervals"].push_back({at.node, at.rank, at.start, at.end});
  for (const LinkUse& link : result.links)
    out["links"].push_back({link.name, link.messages, link.bytes, link.busy, link.queued});
  for (const PathStep& step : result.critical_path)
    out["path"].push_back({step.node, step.rank, step.name, step.why, step.start, step.end});
  for (const CollectiveUse& use : result.collectives)
    out["collectives"].push_back({use.node, use.rank, use.name, use.members, use.bytes, use.start, use.end, use.exposed,
                                  use.waited, use.last_member, use.model, use.algorithm, use.levels, use.bound,
                                  use.launch.value, use.latency.value, use.wire.value, use.ramp.value});
  if (result.loop_drift) out["drift"] = *result.loop_drift;
  return JsonText(out);
}

Result<SimResult> DecodeSimResult(const std::string& text) {
  SimResult result;
  try {
    const json in = ReadJsonOrThrow(text);
    const auto list = [&](const char* key) { return in.value(key, json::array()); };
    result.tick = Time(in.at("tick").get<int64_t>());
    result.order = in.at("order").get<std::vector<uint32_t>>();
    result.messages = in.at("messages");
    result.events = in.at("events");
    result.method = in.at("method");
    for (const json& rank : in.at("ranks")) result.ranks.push_back(ReadRank(rank));
    for (const json& i : list("intervals")) result.intervals.push_back({i.at(0), i.at(1), i.at(2), i.at(3)});
    for (const json& i : list("links")) result.links.push_back({i.at(0), i.at(1), i.at(2), i.at(3), i.at(4)});
    for (const json& i : list("path"))
      result.critical_path.push_back({i.at(0), i.at(1), i.at(2), i.at(3), i.at(4), i.at(5)});
    for (const json& i : list("collectives"))
      result.collectives.push_back({i.at(0), i.at(1), i.at(2), i.at(3), i.at(4), i.at(5), i.at(6), i.at(7), i.at(8),
                                    i.at(9), i.at(10), i.at(11), i.at(12), i.at(13), Time(i.at(14)), Time(i.at(15)),
                                    Time(i.at(16)), Time(i.at(17))});
    if (in.contains("drift")) result.loop_drift = in["drift"].get<double>();
  } catch (const json::exception& error) {
    return MakeError(kBadSimResult, std::string("a result cannot be read: ") + error.what());
  }
  return result;
}

}  // namespace hespas::result
