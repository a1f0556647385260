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
#include "estimate/calibrated/machine.h"
#include "hardware/links/link_limits.h"

namespace hespas::driver {
namespace {

using hardware::Device;
using hardware::kBinaryGiga;
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
  std::optional<double> (*read)(const Noun& noun);
  bool relative = true;  // may be given as a factor
};

template <class T>
std::optional<double> ReadOptional(const std::optional<T>& figure) {
  if (!figure) return std::nullopt;
  if constexpr (std::is_arithmetic_v<T>) {
    return static_cast<double>(*figure);
  } else {
    return static_cast<double>(figure->value);
  }
}

std::optional<double> ReadLaunch(const Device& device) {
  const auto own = device.calibration.find("stream.launch_us");
  if (own != device.calibration.end()) return own->second * 1e-6;
  const auto& shared = estimate::calibrated::DefaultParameters();
  return shared ? std::optional(estimate::calibrated::ForDevice(*shared, device).stream.launch_us * 1e-6)
                : std::nullopt;
}

std::optional<double> ReadLinks(const Device& device) {
  return device.interconnect ? std::optional(device.interconnect->bandwidth.value) : std::nullopt;
}

constexpr Field<Device> kDeviceFields[] = {
    {"device.peak_flops", Unit::kFlopsPerSecond, SetPeak,
     [](const Device& d) { return std::optional(d.peak_flops.value); }},
    {"device.memory_bandwidth", Unit::kBytesPerSecond, [](Device& d, const Amount& a) { Set(d.memory_bandwidth, a); },
     [](const Device& d) { return std::optional(d.memory_bandwidth.value); }},
    {"device.memory_capacity", Unit::kBytes, [](Device& d, const Amount& a) { SetOptional(d.memory_capacity, a); },
     [](const Device& d) { return ReadOptional(d.memory_capacity); }},
    {"device.l2_capacity", Unit::kBytes, [](Device& d, const Amount& a) { SetOptional(d.l2_capacity, a); },
     [](const Device& d) { return ReadOptional(d.l2_capacity); }},
    {"device.clock", Unit::kHertz, [](Device& d, const Amount& a) { SetOptional(d.clock_hz, a); },
     [](const Device& d) { return ReadOptional(d.clock_hz); }},
    {"device.sm_count", Unit::kNumber, [](Device& d, const Amount& a) { SetOptional(d.sm_count, a); },
     [](const Device& d) { return ReadOptional(d.sm_count); }},
    {"device.tdp", Unit::kWatts, [](Device& d, const Amount& a) { SetOptional(d.tdp_w, a); },
     [](const Device& d) { return ReadOptional(d.tdp_w); }},
    {"device.link_bandwidth", Unit::kBytesPerSecond, SetLinks, ReadLinks},
    {"device.launch_time", Unit::kSeconds, SetLaunch, ReadLaunch, false},
};

// Of one dimension of the network, or of each.
struct Dimensions {
  System& system;
  std::optional<size_t> only;

  template <class Change>
  void Each(const Change& change) const {
    for (size_t d = 0; d < system.dimensions.size(); ++d) {
      if (!only || *only == d) change(system.dimensions[d]);
    }
  }
};

// The figure that all dimensions have; nothing where they differ.
std::optional<double> ReadAll(const Dimensions& dimensions, double (*read)(const hardware::NetworkDimension&)) {
  std::optional<double> found;
  bool differ = false;
  dimensions.Each([&](const auto& dimension) {
    differ |= found && *found != read(dimension);
    found = read(dimension);
  });
  return differ ? std::nullopt : found;
}

void SetBandwidth(Dimensions& dimensions, const Amount& amount) {
  dimensions.Each(
      [&](auto& dimension) { dimension.bandwidth = amount.Of(dimension.bandwidth * kBinaryGiga) / kBinaryGiga; });
}
std::optional<double> ReadBandwidth(const Dimensions& dimensions) {
  return ReadAll(dimensions, [](const hardware::NetworkDimension& d) { return d.bandwidth * kBinaryGiga; });
}
void SetLatency(Dimensions& dimensions, const Amount& amount) {
  dimensions.Each([&](auto& dimension) { dimension.latency = amount.Of(dimension.latency * 1e-9) * 1e9; });
}
std::optional<double> ReadLatency(const Dimensions& dimensions) {
  return ReadAll(dimensions, [](const hardware::NetworkDimension& d) { return d.latency * 1e-9; });
}

constexpr Field<Dimensions> kSystemFields[] = {
    {"system.bandwidth", Unit::kBytesPerSecond, SetBandwidth, ReadBandwidth},
    {"system.latency", Unit::kSeconds, SetLatency, ReadLatency},
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
  if (value && *value < 0)
    return MakeError(kBadChange, fmt::format("--set {}: `{}` is below 0", change, text), {}, "give 0 or more");
  if (!value || !std::isfinite(*value)) return Bad(change, fmt::format("`{}` is no such quantity", text));
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

// After a change: a bare 450 means byte/s.
Status CheckLinks(const std::string& change, const System& system) {
  for (const hardware::NetworkDimension& dimension : system.dimensions) {
    const double bandwidth = dimension.bandwidth * kBinaryGiga;
    if (!hardware::IsLinkBandwidth(bandwidth))
      return MakeError(kBadChange, fmt::format("--set {}: no link has {:g} byte/s", change, bandwidth), {},
                       "give a unit, as 450GB/s or 400Gbit/s; a very slow link is 1kB/s, and without a network use "
                       "--network-backend none");
    if (dimension.latency > hardware::kMostLatencyNs)
      return MakeError(kBadChange,
                       fmt::format("--set {}: no link has a latency of {:g} s", change, dimension.latency * 1e-9), {},
                       "give a unit, as 1.5us");
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

Result<Figure> ReadFigure(const std::string& key, const Device& device, const System* system) {
  const Result<Change> parsed = Parse(key + "=0");
  if (!parsed) return parsed.error();
  const auto missing = [&](std::string_view why) { return MakeError(kBadChange, fmt::format("`{}` {}", key, why)); };
  const std::string name = parsed->key.substr(std::min(parsed->key.size(), kCalibration.size()));
  if (parsed->key.starts_with(kCalibration)) {
    const auto found = device.calibration.find(name);
    if (found == device.calibration.end()) return missing("is no constant that this device sets");
    return Figure{.unit = Unit::kNumber, .value = found->second};
  }
  for (const auto& field : kDeviceFields) {
    if (field.key != parsed->key) continue;
    const auto value = field.read(device);
    if (!value) return missing("is not known of this device");
    return Figure{.unit = field.unit, .value = *value};
  }
  if (system == nullptr) return missing("is a figure of the network, and this run has none");
  if (parsed->index && *parsed->index >= system->dimensions.size())
    return missing(fmt::format("is none of the {} dimensions of `{}`", system->dimensions.size(), system->name));
  System copy = *system;
  const Dimensions dimensions{copy, parsed->index};
  for (const auto& field : kSystemFields) {
    if (field.key != parsed->key) continue;
    const auto value = field.read(dimensions);
    if (!value)
      return missing(fmt::format("differs between dimensions: name one, {}[0] to {}[{}]", key, key,
                                 system->dimensions.size() - 1));
    return Figure{.unit = field.unit, .value = *value};
  }
  return missing("is no figure");
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
      return MakeError(kBadChange,
                       fmt::format("--set {}: `{}` has {} dimensions, from 0 to {}", change, system.name,
                                   system.dimensions.size(), system.dimensions.size() - 1),
                       {}, "count them from the inside; `hespas systems NAME --describe` draws them");
    }
    Dimensions dimensions{system, parsed->index};
    if (Status applied = Apply({change}, kSystemFields, dimensions); !applied) return applied.error();
    if (Status possible = CheckLinks(change, system); !possible) return possible.error();
  }
  return {};
}

}  // namespace hespas::driver
