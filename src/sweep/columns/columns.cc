#include "sweep/columns/columns.h"

#include <iterator>

namespace hespas::sweep {
namespace {

using result::RunResult;

// What a run costs, as far as prices and tokens are known.
struct Costs {
  Json devices_energy_j, cost, million, steps, run_time_s, run_energy_j, run_cost;
};

Costs CostsOf(const RunResult& result, const Economy& economy) {
  Costs costs;
  const double seconds = result.step_time.seconds();
  const auto npus = static_cast<double>(result.npus);
  if (result.energy_j) costs.devices_energy_j = npus * *result.energy_j;
  const double per_step = result.throughput ? result.throughput->per_step : 0;
  auto price = economy.PriceOf(result.device);
  if (!price && result.price) price = result.price->per_hour;
  if (price) costs.cost = CostOf({.per_hour = *price}, npus * seconds);
  constexpr double kMillion = 1e6;
  if (price && per_step > 0) costs.million = kMillion * CostOf({.per_hour = *price}, seconds) / per_step;
  if (!(economy.tokens > 0) || !(per_step > 0)) return costs;
  const double steps = economy.tokens / (per_step * npus);
  costs.steps = steps;
  costs.run_time_s = steps * seconds;
  if (result.energy_j) costs.run_energy_j = steps * npus * *result.energy_j;
  if (price) costs.run_cost = CostOf({.per_hour = *price}, steps * npus * seconds);
  return costs;
}

struct Column {
  const char* name;
  Json (*value)(const RunResult& result, const Costs& costs);
};

template <class T>
Json OrNull(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

constexpr Column kColumns[] = {
    {"device_name", [](const RunResult& r, const Costs&) -> Json { return r.device; }},
    {"system_name", [](const RunResult& r, const Costs&) -> Json { return r.system; }},
    {"estimator_name", [](const RunResult& r, const Costs&) -> Json { return r.estimator; }},
    {"network_model_name",
     [](const RunResult& r, const Costs&) { return r.network_model.empty() ? Json() : Json(r.network_model); }},
    {"npus", [](const RunResult& r, const Costs&) -> Json { return r.npus; }},
    {"step_time_ps", [](const RunResult& r, const Costs&) -> Json { return r.step_time.value; }},
    {"step_time_s", [](const RunResult& r, const Costs&) -> Json { return r.step_time.seconds(); }},
    {"step_time_sigma_s",
     [](const RunResult& r, const Costs&) { return r.step_time_sigma ? Json(r.step_time_sigma->seconds()) : Json(); }},
    {"compute_time_s", [](const RunResult& r, const Costs&) -> Json { return r.compute_time.seconds(); }},
    {"communication_time_s", [](const RunResult& r, const Costs&) -> Json { return r.communication_time.seconds(); }},
    {"exposed_communication_s",
     [](const RunResult& r, const Costs&) -> Json { return r.exposed_communication.seconds(); }},
    {"overlap_s", [](const RunResult& r, const Costs&) -> Json { return r.overlap.seconds(); }},
    {"idle_s", [](const RunResult& r, const Costs&) -> Json { return r.idle.seconds(); }},
    {"flops", [](const RunResult& r, const Costs&) -> Json { return r.flops.value; }},
    {"flops_all_devices", [](const RunResult& r, const Costs&) -> Json { return r.flops_of_all(); }},
    {"bytes_accessed", [](const RunResult& r, const Costs&) -> Json { return r.bytes_accessed.value; }},
    {"model_flops_utilisation", [](const RunResult& r, const Costs&) { return OrNull(r.model_flops_utilisation); }},
    {"hardware_flops_utilisation",
     [](const RunResult& r, const Costs&) -> Json { return r.hardware_flops_utilisation; }},
    {"peak_memory_bytes",
     [](const RunResult& r, const Costs&) -> Json { return r.peak_memory ? Json(r.peak_memory->value) : Json(); }},
    {"fits_in_memory", [](const RunResult& r, const Costs&) { return OrNull(r.fits_in_memory); }},
    {"energy_j", [](const RunResult& r, const Costs&) { return OrNull(r.energy_j); }},
    {"energy_all_devices_j", [](const RunResult&, const Costs& c) { return c.devices_energy_j; }},
    {"unit", [](const RunResult& r, const Costs&) { return r.throughput ? Json(r.throughput->unit) : Json(); }},
    {"units_per_step", [](const RunResult& r, const Costs&) { return OrNull(r.batch()); }},
    {"units_per_second_per_device", [](const RunResult& r, const Costs&) { return OrNull(r.rate_per_device()); }},
    {"units_per_second", [](const RunResult& r, const Costs&) { return OrNull(r.rate()); }},
    {"energy_per_million_j", [](const RunResult& r, const Costs&) { return OrNull(r.energy_per_million()); }},
    {"cost_per_million", [](const RunResult&, const Costs& c) { return c.million; }},
    {"cost_per_step", [](const RunResult&, const Costs& c) { return c.cost; }},
    {"run_steps", [](const RunResult&, const Costs& c) { return c.steps; }},
    {"run_time_s", [](const RunResult&, const Costs& c) { return c.run_time_s; }},
    {"run_energy_j", [](const RunResult&, const Costs& c) { return c.run_energy_j; }},
    {"run_cost", [](const RunResult&, const Costs& c) { return c.run_cost; }},
};

constexpr size_t kBehind = 2;  // error and message follow

constexpr std::string_view kSuffixes[] = {"_s", "_bytes", "_j"};
struct Alias {
  std::string_view name;
  std::string_view column;
};
constexpr Alias kAliases[] = {{"devices", "npus"},
                              {"throughput", "units_per_second_per_device"},
                              {"mfu", "model_flops_utilisation"},
                              {"hfu", "hardware_flops_utilisation"},
                              {"cost", "cost_per_step"}};

}  // namespace

std::optional<double> Economy::PriceOf(const std::string& device) const {
  auto found = prices.find(device);
  if (found == prices.end()) found = prices.find("*");
  return found == prices.end() ? std::nullopt : std::optional(found->second);
}

std::vector<std::string> ResultNames() {
  std::vector<std::string> names;
  for (const Column& column : kColumns) {
    const std::string name = column.name;
    names.push_back(name);
    for (const std::string_view suffix : kSuffixes) {
      if (name.ends_with(suffix)) names.push_back(name.substr(0, name.size() - suffix.size()));
    }
  }
  for (const Alias& alias : kAliases) names.emplace_back(alias.name);
  return names;
}

std::optional<std::string> ColumnCalled(const std::string& name) {
  for (const Alias& alias : kAliases) {
    if (alias.name == name) return std::string(alias.column);
  }
  for (const Column& column : kColumns) {
    const std::string full = column.name;
    if (full == name) return full;
    for (const std::string_view suffix : kSuffixes) {
      if (full.ends_with(suffix) && full.size() == name.size() + suffix.size() && full.starts_with(name)) return full;
    }
  }
  return std::nullopt;
}

void AddColumns(const RunResult* result, const Economy& economy, Json& row) {
  const Costs costs = result != nullptr ? CostsOf(*result, economy) : Costs{};
  // Straight behind the settings, whose names are others: looking each name up would take longer than its value.
  auto& cells = row.get_ref<Json::object_t&>();
  cells.reserve(cells.size() + std::size(kColumns) + kBehind);
  for (const Column& column : kColumns)
    cells.emplace_back(column.name, result != nullptr ? column.value(*result, costs) : Json());
}

}  // namespace hespas::sweep
