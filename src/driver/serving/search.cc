#include "driver/serving/search.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/version.h"
#include "driver/serving/server.h"

namespace hespas::driver {
namespace {

constexpr int64_t kRequests = 200;  // of a simulation, where the user gives no number
constexpr int64_t kMostClients = 1024;
constexpr double kDrain = 1.15;  // of the time of arrivals and one request, until all are answered
constexpr int kHalvings = 6;     // of the interval of rates

std::vector<std::string> SplitList(const std::string& text) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t comma = std::min(text.find(',', begin), text.size());
    parts.push_back(text.substr(begin, comma - begin));
    begin = comma + 1;
  }
  return parts;
}

// Layouts of the devices: powers of two for tensor and pipeline ranks, what they leave as replicas or engines apart.
std::vector<ServeOptions> Layouts(const ServeOptions& options) {
  std::vector<ServeOptions> out;
  const int64_t n = options.devices;
  for (int64_t tensor = 1; tensor <= n; tensor *= 2) {
    for (int64_t pipeline = 1; tensor * pipeline <= n; pipeline *= 2) {
      if (n % (tensor * pipeline) != 0) continue;
      if (options.tensor && *options.tensor != tensor) continue;
      if (options.pipeline.value_or(pipeline) != pipeline) continue;
      const int64_t engines = n / (tensor * pipeline);
      ServeOptions layout = options;
      layout.tensor = tensor;
      layout.pipeline = pipeline;
      layout.data = engines;
      if (options.disaggregate.empty() && options.data.value_or(engines) == engines) out.push_back(layout);
      layout.data = 1;
      if (options.data.value_or(1) != 1) continue;
      for (int64_t prefill = 1; prefill < engines; prefill *= 2) {
        layout.disaggregate = fmt::format("{}:{}", prefill, engines - prefill);
        if (options.disaggregate.empty() || options.disaggregate == layout.disaggregate) out.push_back(layout);
      }
    }
  }
  return out;
}

std::vector<ServeOptions> Candidates(const ServeOptions& options) {
  std::vector<ServeOptions> out;
  for (const std::string& device : SplitList(options.device.name)) {
    for (const std::string& weights : SplitList(options.weights)) {
      ServeOptions each = options;
      each.device.name = device;
      each.weights = weights;
      const auto layouts = Layouts(each);
      out.insert(out.end(), layouts.begin(), layouts.end());
    }
  }
  return out;
}

class Searcher {
 public:
  Searcher(const ServeOptions& options, serve::Slo slo) : options_(options), slo_(slo) {}

  void Try(const ServeOptions& candidate) {
    ++answer_.candidates;
    Diagnostics unsuitable;  // a layout that the model does not admit
    const auto server = MakeServer(candidate, unsuitable);
    if (!server || (server->memory && !server->memory->fits) || Hopeless(*server)) {
      ++answer_.excluded;
      return;
    }
    if (options_.load.clients || options_.load.rate || !options_.load.trace.empty()) {
      Ask(*server, candidate);
    } else if (slo_.ttft_s || slo_.tpot_s || slo_.e2e_s) {
      HighestRate(*server, candidate);
    } else {
      const int64_t most = kMostClients * server->layout.replicas;
      for (int64_t clients = 1; clients <= most; clients *= 4) {
        ServeOptions loaded = candidate;
        loaded.load.clients = clients;
        if (!loaded.load.requests) loaded.load.requests = std::max(kRequests, 2 * clients);
        Ask(*server, loaded);
      }
    }
  }

  SearchAnswer Take() {
    for (SearchPoint& point : answer_.points) {
      point.pareto = std::none_of(answer_.points.begin(), answer_.points.end(), [&](const SearchPoint& other) {
        return other.tokens_per_s_per_user >= point.tokens_per_s_per_user &&
               other.tokens_per_s_per_device >= point.tokens_per_s_per_device &&
               (other.tokens_per_s_per_user > point.tokens_per_s_per_user ||
                other.tokens_per_s_per_device > point.tokens_per_s_per_device);
      });
    }
    const auto better = [](const SearchPoint& a, const SearchPoint& b) {
      if (a.meets != b.meets) return b.meets;
      return a.tokens_per_s_per_device < b.tokens_per_s_per_device;
    };
    const auto best = std::max_element(answer_.points.begin(), answer_.points.end(), better);
    if (best != answer_.points.end()) best->best = best->meets;
    return std::move(answer_);
  }

 private:
  // Not even a lone request keeps the limits.
  bool Hopeless(const Server& server) const {
    const auto mean = serve::Length::Parse(options_.load.input);
    const double tokens = mean ? mean->Mean() : 1;
    const double step =
        server.steps->CostOf({.decode_requests = 1, .decode_rows = 1, .decode_context = tokens}).seconds /
        static_cast<double>(1 + server.engine.policy.speculation.drafts);
    return slo_.tpot_s && step > *slo_.tpot_s;
  }

  std::optional<SearchPoint> Measure(const Server& server, const ServeOptions& options) const {
    Diagnostics ignored;  // of a single point: overload, refused requests
    const auto found = ServeLoad(server, options, ignored);
    if (!found || found->figures.answered == 0) return std::nullopt;
    const serve::Figures& f = found->figures;
    SearchPoint point{.device = found->device,
                      .devices = found->devices,
                      .parallelism = found->parallelism,
                      .disaggregate = options.disaggregate,
                      .weights = found->weights,
                      .clients = options.load.clients,
                      .rate = options.load.rate,
                      .ttft_s = f.ttft.mean,
                      .tpot_s = f.tpot.mean,
                      .e2e_s = f.e2e.mean,
                      .tokens_per_s_per_user = f.tokens_per_s_per_user,
                      .tokens_per_s_per_device = f.tokens_per_s / static_cast<double>(found->devices),
                      .cost = found->cost};
    // Beyond capacity the queue grows for as long as requests come: limits that a short run keeps say nothing.
    const double arriving = found->workload.requests.back().arrival;
    const bool follows = !options.load.rate || found->run.wall <= kDrain * (arriving + f.e2e.mean);
    point.meets = follows && (!slo_.ttft_s || f.ttft.p99 <= *slo_.ttft_s) &&
                  (!slo_.tpot_s || f.tpot.p99 <= *slo_.tpot_s) && (!slo_.e2e_s || f.e2e.p99 <= *slo_.e2e_s);
    return point;
  }

  void Ask(const Server& server, const ServeOptions& options) {
    if (const auto point = Measure(server, options)) answer_.points.push_back(*point);
  }

  // The rate is doubled until a limit is missed, then its interval is halved.
  void HighestRate(const Server& server, ServeOptions options) {
    const bool fixed = options.load.requests.has_value();
    double longest = 1;  // request so far, in seconds; a run is several times as long
    constexpr double kRuns = 3;
    constexpr double kMostRequests = 20'000;
    constexpr double kLowest = 0.01;
    constexpr double kHighest = 1e5;
    std::optional<SearchPoint> good;
    double low = 0;
    double high = kLowest * static_cast<double>(server.engines());
    const auto meets = [&](double rate) {
      options.load.rate = rate;
      const double wanted = std::min(kRuns * rate * longest, kMostRequests);
      if (!fixed) options.load.requests = std::max(kRequests, static_cast<int64_t>(wanted));
      const auto point = Measure(server, options);
      const bool ok = point && point->meets;
      if (ok) good = point;
      if (ok) longest = point->e2e_s;
      return ok;
    };
    while (high < kHighest && meets(high)) {
      low = high;
      high *= 2;
    }
    for (int i = 0; i < kHalvings; ++i) {
      const double middle = (low + high) / 2;
      (meets(middle) ? low : high) = middle;
    }
    if (good) answer_.points.push_back(*good);
  }

  const ServeOptions& options_;
  serve::Slo slo_;
  SearchAnswer answer_;
};

std::string LoadOf(const SearchPoint& point) {
  if (point.clients) return fmt::format("{} clients", *point.clients);
  return point.rate ? fmt::format("{:.4g}/s", *point.rate) : "trace";
}

}  // namespace

std::optional<SearchAnswer> Search(const ServeOptions& options, Diagnostics& diagnostics) {
  const auto slo = ResolveSlo(options.slo, diagnostics);
  if (!slo) return std::nullopt;
  const auto candidates = Candidates(options);
  if (candidates.empty()) {
    diagnostics.Error(kBadServe, "no layout of the devices goes with --tp, --pp and --dp");
    return std::nullopt;
  }
  Searcher searcher(options, *slo);
  for (const ServeOptions& candidate : candidates) searcher.Try(candidate);
  SearchAnswer answer = searcher.Take();
  if (!answer.points.empty()) return answer;
  // Why: what the first candidate alone says.
  if (!MakeServer(candidates.front(), diagnostics)) return std::nullopt;
  diagnostics.Error(kBadServe, fmt::format("none of {} candidates keeps the limits", answer.candidates), {},
                    "relax --slo, or take more or faster devices");
  return std::nullopt;
}

report::Table SearchTable(const SearchAnswer& answer) {
  using report::Align;
  report::Table table;
  table.columns = {{"device"},
                   {"tp", Align::kRight},
                   {"pp", Align::kRight},
                   {"dp", Align::kRight},
                   {"P:D"},
                   {"weights"},
                   {"load", Align::kRight},
                   {"ttft_s", Align::kRight},
                   {"tpot_s", Align::kRight},
                   {"tokens_per_s_per_user", Align::kRight},
                   {"tokens_per_s_per_device", Align::kRight},
                   {"cost_per_million_tokens", Align::kRight},
                   {"meets"},
                   {"pareto"},
                   {"best"}};
  const auto yes = [](bool value) { return std::string(value ? "yes" : ""); };
  for (const SearchPoint& p : answer.points) {
    table.rows.push_back({p.device, fmt::format("{}", p.parallelism.tensor), fmt::format("{}", p.parallelism.pipeline),
                          fmt::format("{}", p.parallelism.data), p.disaggregate, p.weights, LoadOf(p),
                          fmt::format("{:.4g}", p.ttft_s), fmt::format("{:.4g}", p.tpot_s),
                          fmt::format("{:.4g}", p.tokens_per_s_per_user),
                          fmt::format("{:.5g}", p.tokens_per_s_per_device),
                          p.cost ? fmt::format("{:.4g}", *p.cost) : "", yes(p.meets), yes(p.pareto), yes(p.best)});
  }
  return table;
}

std::string ToJson(const SearchAnswer& answer, const ServeOptions& options) {
  using Json = nlohmann::ordered_json;
  Json json;
  json["schema_version"] = 1;
  json["candidates"] = answer.candidates;
  json["excluded"] = answer.excluded;
  json["points"] = Json::array();
  for (const SearchPoint& p : answer.points) {
    Json point = {{"device", p.device},
                  {"devices", p.devices},
                  {"parallelism",
                   {{"tp", p.parallelism.tensor},
                    {"pp", p.parallelism.pipeline},
                    {"ep", p.parallelism.expert},
                    {"dp", p.parallelism.data}}},
                  {"weights", p.weights}};
    if (!p.disaggregate.empty()) point["disaggregate"] = p.disaggregate;
    if (p.clients) point["concurrency"] = *p.clients;
    if (p.rate && std::isfinite(*p.rate)) point["rate"] = *p.rate;
    point["ttft_s"] = p.ttft_s;
    point["tpot_s"] = p.tpot_s;
    point["tokens_per_s_per_user"] = p.tokens_per_s_per_user;
    point["tokens_per_s_per_device"] = p.tokens_per_s_per_device;
    if (p.cost) point["cost_per_million_tokens"] = *p.cost;
    point["meets_slo"] = p.meets;
    point["pareto"] = p.pareto;
    point["best"] = p.best;
    json["points"].push_back(std::move(point));
  }
  json["reproduce"] = {{"command", options.command_line}, {"version", kVersion}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace hespas::driver
