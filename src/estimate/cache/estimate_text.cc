#include "estimate/cache/estimate_text.h"

#include <mutex>
#include <nlohmann/json.hpp>
#include <unordered_set>

#include "base/text/json.h"

namespace hespas::estimate {
namespace {

// Estimates name their terms and sources by views of texts that live as long as the program.
std::string_view Keep(const std::string& text) {
  static std::mutex mutex;
  static auto* const kTexts = new std::unordered_set<std::string>;
  const std::lock_guard lock(mutex);
  return *kTexts->insert(text).first;
}

}  // namespace

std::string EstimateToText(const graph::Estimate& estimate) {
  nlohmann::ordered_json json = {{"time_ps", estimate.time.value},
                                 {"sigma_ps", estimate.sigma.value},
                                 {"flops", estimate.flops.value},
                                 {"bytes", estimate.bytes.value},
                                 {"bound", static_cast<int>(estimate.bound)},
                                 {"source", std::string(estimate.source)}};
  if (estimate.limited.value != 0) json["limited_ps"] = estimate.limited.value;
  auto& terms = json["terms"] = nlohmann::ordered_json::array();
  for (const graph::Term& term : estimate.terms) terms.push_back({std::string(term.name), term.time.value});
  return AsciiJsonText(json);
}

std::optional<graph::Estimate> EstimateFromText(std::string_view text) {
  try {
    const auto json = ReadJsonOrThrow(text);
    graph::Estimate out{.time = Time(json.at("time_ps").get<int64_t>()),
                        .sigma = Time(json.at("sigma_ps").get<int64_t>()),
                        .flops = Flops(json.at("flops").get<int64_t>()),
                        .bytes = Bytes(json.at("bytes").get<int64_t>())};
    const int bound = json.at("bound").get<int>();
    if (bound < 0 || bound > static_cast<int>(graph::Bound::kMeasured)) return std::nullopt;
    out.bound = static_cast<graph::Bound>(bound);
    out.limited = Time(json.value("limited_ps", int64_t{0}));
    out.source = Keep(json.at("source").get<std::string>());
    for (const auto& term : json.at("terms")) {
      out.terms.push_back({Keep(term.at(0).get<std::string>()), Time(term.at(1).get<int64_t>())});
    }
    return out;
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;
  }
}

}  // namespace hespas::estimate
