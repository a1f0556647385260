#include "driver/configuration/changes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <type_traits>

#include "base/text/suggest.h"
#include "base/text/unit_text.h"

namespace hespas::driver {
namespace {

using hardware::Device;
using hardware::System;

// A factor or a new value in base units.
struct Amount {
  bool factor = false;
  double value = 1;

  double Of(double before) const { return factor ? before * value : value; }
};

template <class Rate>
void Set(Rate& rate, const Amount& amount) {
  rate.value = amount.Of(rate.value);
}

template <class T>
void SetOptional(std::optional<T>& figure, const Amount& amount) {
  if constexpr (std::is_arithmetic_v<T>) {
    if (figure || !amount.factor) figure = static_cast<T>(amount.Of(static_cast<double>(figure.value_or(T()))));
  } else {
    if (!figure && amount.factor) return;
    if (!figure) figure.emplace();
    figure->value = static_cast<decltype(figure->value)>(amount.Of(static_cast<double>(figure->value)));
  }
}

// All rates change by one factor; a new value is that of the default rate.
void SetPeak(Device& device, const Amount& amount) {
  const double factor = amount.factor ? amount.value : amount.value / device.peak_flops.value;
  device.peak_flops.value *= factor;
  for (hardware::RateTable* table : {&device.per_datatype_flops, &device.matrix_flops, &device.vector_flops}) {
    for (auto& [name, rate] : *table) rate.value *= factor;
  }
  if (device.matrix_flops_per_clock) *device.matrix_flops_per_clock *= factor;
  if (device.lanes_per_sm) device.lanes_per_sm = static_cast<int>(std::lround(*device.lanes_per_sm * factor));
}

// What is left of a kernel's start where kernels follow each other; the roofline knows none.
void SetLaunch(Device& device, const Amount& amount) { device.calibration["stream.launch_us"] = amount.value * 1e6; }

void SetLinks(Device& device, const Amount& amount) {
  if (device.interconnect) Set(device.interconnect->bandwidth, amount);
}

template <class Noun>
struct Field {
  std::string_view key;
  Unit unit;
  void (*apply)(Noun& noun, const Amount& amount);
  bool relative = true;  // may be given as a factor
};

constexpr Field<Device> kDeviceFields[] = {
    {"device.peak_flops", Unit::kFlopsPerSecond, SetPeak},
    {"device.memory_bandwidth", Unit::kBytesPerSecond, [](Device& d, const Amount& a) { Set(d.memory_bandwidth, a); }},
    {"device.memory_capacity", Unit::kBytes, [](Device& d, const Amount& a) { SetOptional(d.memory_capacity, a); }},
    {"device.l2_capacity", Unit::kBytes, [](Device& d, const Amount& a) { SetOptional(d.l2_capacity, a); }},
    {"device.clock", Unit::kHertz, [](Device& d, const Amount& a) { SetOptional(d.clock_hz, a); }},
    {"device.sm_count", Unit::kNumber, [](Device& d, const Amount& a) { SetOptional(d.sm_count, a); }},
    {"device.tdp", Unit::kWatts, [](Device& d, const Amount& a) { SetOptional(d.tdp_w, a); }},
    {"device.link_bandwidth", Unit::kBytesPerSecond, SetLinks},
    {"device.launch_time", Unit::kSeconds, SetLaunch, false},
};

constexpr double kGiga = 1073741824.0;  // a link's GB is 2^30 bytes (hardware/system.h)

// Of one dimension of the network, or of each.
struct Dimensions {
  System& system;
  std::optional<size_t> only;

  template <class Change>
  void Each(const Change& change) {
    for (size_t d = 0; d < system.dimensions.size(); ++d) {
      if (!only || *only == d) change(system.dimensions[d]);
    }
  }
};

constexpr Field<Dimensions> kSystemFields[] = {
    {"system.bandwidth", Unit::kBytesPerSecond,
     [](Dimensions& dimensions, const Amount& amount) {
       dimensions.Each([&](auto& dimension) { dimension.bandwidth = amount.Of(dimension.bandwidth * kGiga) / kGiga; });
     }},
    {"system.latency", Unit::kSeconds,
     [](Dimensions& dimensions, const Amount& amount) {
       dimensions.Each([&](auto& dimension) { dimension.latency = amount.Of(dimension.latency * 1e-9) * 1e9; });
     }},
};

constexpr std::string_view kCalibration = "device.calibration.";

struct Change {
  std::string key;  // without the index
  std::string value;
  std::optional<size_t> index;  // "system.bandwidth[1]"
};

Error Bad(const std::string& change, const std::string& what) {
  return MakeError(kBadChange, fmt::format("--set {}: {}", change, what), {},
                   fmt::format("KEY=VALUE with one of {}, {}NAME", fmt::join(ChangeKeys(), ", "), kCalibration));
}

// Takes "[1]" off a figure of the network; false where the brackets hold no number.
bool TakeIndex(Change& change) {
  const size_t bracket = change.key.find('[');
  if (bracket == std::string::npos || !change.key.starts_with("system.")) return true;
  size_t index = 0;
  const char* end = change.key.data() + change.key.size() - 1;
  const auto [at, error] = std::from_chars(change.key.data() + bracket + 1, end, index);
  if (error != std::errc() || at != end || *end != ']') return false;
  change.index = index;
  change.key.resize(bracket);
  return true;
}

Result<Change> Parse(const std::string& change) {
  const size_t equals = change.find('=');
  if (equals == std::string::npos) return Bad(change, "there is no `=`");
  Change parsed{change.substr(0, equals), change.substr(equals + 1), {}};
  const std::vector<std::string> keys = ChangeKeys();
  if (!TakeIndex(parsed)) return Bad(change, fmt::format("`{}` has no dimension's number", parsed.key));
  const bool known = std::find(keys.begin(), keys.end(), parsed.key) != keys.end();
  if (known || parsed.key.starts_with(kCalibration)) return parsed;
  const std::string near = DidYouMean(parsed.key, keys);
  return Bad(change, fmt::format("there is no figure `{}`{}", parsed.key, near.empty() ? "" : "; " + near));
}

Result<Amount> ParseAmount(const std::string& change, std::string_view text, Unit unit, bool relative) {
  Amount amount{.factor = relative && text.ends_with('x')};
  if (amount.factor) text.remove_suffix(1);
  const Result<double> value = ParseQuantity(text, amount.factor ? Unit::kNumber : unit);
  if (!value || !std::isfinite(*value) || *value < 0) return Bad(change, fmt::format("`{}` is no such quantity", text));
  amount.value = *value;
  return amount;
}

template <class Noun, size_t kFields>
Status Apply(const std::vector<std::string>& changes, const Field<Noun> (&fields)[kFields], Noun& noun) {
  for (const std::string& change : changes) {
    const Result<Change> parsed = Parse(change);
    if (!parsed) return parsed.error();
    for (const Field<Noun>& field : fields) {
      if (field.key != parsed->key) continue;
      const Result<Amount> amount = ParseAmount(change, parsed->value, field.unit, field.relative);
      if (!amount) return amount.error();
      field.apply(noun, *amount);
    }
  }
  return {};
}

}  // namespace

std::vector<std::string> ChangeKeys() {
  std::vector<std::string> keys;
  for (const auto& field : kDeviceFields) keys.emplace_back(field.key);
  for (const auto& field : kSystemFields) keys.emplace_back(field.key);
  return keys;
}

Status ChangeDevice(const std::vector<std::string>& changes, Device& device) {
  for (const std::string& change : changes) {
    const Result<Change> parsed = Parse(change);
    if (!parsed) return parsed.error();
    if (!parsed->key.starts_with(kCalibration)) continue;
    const Result<Amount> amount = ParseAmount(change, parsed->value, Unit::kNumber, false);
    if (!amount) return amount.error();
    device.calibration[parsed->key.substr(kCalibration.size())] = amount->value;
  }
  return Apply(changes, kDeviceFields, device);
}

Status ChangeSystem(const std::vector<std::string>& changes, System& system) {
  for (const std::string& change : changes) {
    const Result<Change> parsed = Parse(change);
    if (!parsed) return parsed.error();
    if (parsed->index && *parsed->index >= system.dimensions.size()) {
      return MakeError(kBadChange, fmt::format("--set {}: `{}` has {} dimensions, from 0 to {}", change, system.name,
                                               system.dimensions.size(), system.dimensions.size() - 1));
    }
    Dimensions dimensions{system, parsed->index};
    if (Status applied = Apply({change}, kSystemFields, dimensions); !applied) return applied.error();
  }
  for (const hardware::NetworkDimension& dimension : system.dimensions) {
    if (dimension.bandwidth > 0) continue;
    return MakeError(kBadChange, "--set system.bandwidth: a link needs a bandwidth above 0", {},
                     "a very slow link is \"1 kB/s\"; without a network use --network-backend none");
  }
  return {};
}

}  // namespace hespas::driver
