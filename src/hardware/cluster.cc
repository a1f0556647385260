#include "hardware/cluster.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <optional>

#include "base/text/suggest.h"
#include "base/text/unit_text.h"
#include "hardware/links/link_limits.h"
#include "hardware/presets.h"
#include "hardware/system_reader.h"

namespace hespas::hardware {
namespace {

constexpr double kGigabit = 1e9 / 8;

// The network that a vendor's reference design puts between hosts (or slices), for each device and one way.
struct Reference {
  std::string_view devices;  // names that begin so
  double bytes_per_second;
  std::string_view source;
};
constexpr Reference kReferences[] = {
    {"V100", 50 * kGigabit, "NVIDIA DGX-1 datasheet: 4 x 100 Gbit/s EDR for 8 GPUs"},
    {"A100", 200 * kGigabit, "NVIDIA DGX A100 datasheet: 8 x 200 Gbit/s HDR"},
    {"H100", 400 * kGigabit, "NVIDIA DGX H100 datasheet: 8 x 400 Gbit/s NDR"},
    {"H200", 400 * kGigabit, "NVIDIA DGX H200 datasheet: 8 x 400 Gbit/s NDR"},
    {"B200", 400 * kGigabit, "NVIDIA DGX B200 datasheet: 8 x 400 Gbit/s NDR"},
    {"GB200", 400 * kGigabit, "NVIDIA GB200 NVL72 datasheet: one ConnectX-7 of 400 Gbit/s for each GPU"},
    {"H20", 400 * kGigabit, "as of HGX H200: 8 x 400 Gbit/s NDR"},
    {"B300", 800 * kGigabit, "NVIDIA DGX B300 datasheet: 8 x 800 Gbit/s XDR"},
    {"GB300", 800 * kGigabit, "NVIDIA GB300 NVL72 datasheet: one ConnectX-8 of 800 Gbit/s for each GPU"},
    {"Rubin", 800 * kGigabit, "NVIDIA's announcements of Vera Rubin: ConnectX-9, 800 Gbit/s for each GPU; preliminary"},
    {"MI250", 200 * kGigabit, "HPE Cray EX235a (Frontier): 4 x 200 Gbit/s Slingshot for 4 MI250X"},
    {"MI300X", 400 * kGigabit, "AMD's reference platform: 8 x 400 Gbit/s for 8 MI300X"},
    {"MI325X", 400 * kGigabit, "AMD's reference platform: 8 x 400 Gbit/s for 8 MI325X"},
    {"MI355X", 400 * kGigabit, "AMD's reference platform: 8 x 400 Gbit/s for 8 MI355X"},
    {"TPUv4", 6.25e9, "jax-ml/scaling-book 0819a7d: about 25 GB/s a host of 4 chips"},
    {"TPUv5e", 25 * kGigabit, "Google Cloud TPU v5e: 2 x 100 Gbit/s a host of 8 chips"},
    {"TPUv5p", 50 * kGigabit, "Google Cloud TPU v5p: 50 Gbit/s a chip"},
    {"TPUv6e", 100 * kGigabit, "Google Cloud TPU v6e: 100 Gbit/s a chip"},
    {"TPU7x_core", 50 * kGigabit, "Google Cloud TPU7x: 100 Gbit/s a chip of two devices"},
    {"TPU7x", 100 * kGigabit, "Google Cloud TPU7x: 100 Gbit/s a chip"},
    {"Trainium2", 200 * kGigabit, "Amazon EC2 trn2.48xlarge: 3.2 Tbit/s EFA for 16 chips"},
    {"Gaudi3", 600 * kGigabit, "Intel Gaudi 3 white paper: 3 of 24 ports of 200 Gbit/s leave the node"},
};
// RDMA between hosts through two levels of switches: adapters of 0.6 us, switches of 0.13 us (NVIDIA ConnectX-7 and
// Quantum-2 datasheets) and cables.
constexpr double kNetworkLatencyNs = 1500;
constexpr double kDataCentreLatencyNs = 10000;  // TCP between slices: estimate
constexpr uint64_t kMostNpus = uint64_t{1} << 20;

const Reference* ReferenceOf(const std::string& device) {
  for (const Reference& reference : kReferences) {
    if (device.starts_with(reference.devices)) return &reference;
  }
  return nullptr;
}

Error Bad(std::string what, std::string help = "DEVICE COUNTS [KEY=VALUE ...], as \"H100_80GB 8x64 ib=400Gbit/s\"") {
  return MakeError(kBadCluster, std::move(what), {}, std::move(help));
}

struct Line {
  std::string device;
  std::vector<uint32_t> counts;
  std::optional<double> bandwidth;  // byte/s
  std::string rate;                 // the word that states it
  std::optional<double> latency_ns;
  double oversubscription = 1;
  uint32_t slices = 1;
  bool tcp = false;
};

std::optional<std::vector<uint32_t>> CountsOf(std::string_view text) {
  std::vector<uint32_t> counts;
  while (true) {
    uint32_t count = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
    if (error != std::errc()) return std::nullopt;
    counts.push_back(count);
    text.remove_prefix(static_cast<size_t>(end - text.data()));
    if (text.empty()) return counts;
    if (text.front() != 'x') return std::nullopt;
    text.remove_prefix(1);
  }
}

// A value may have a space before its unit: "ib=400 Gbit/s".
std::vector<std::string> WordsOf(const std::string& text) {
  std::vector<std::string> words;
  size_t at = 0;
  while ((at = text.find_first_not_of(" \t", at)) != std::string::npos) {
    const size_t end = std::min(text.find_first_of(" \t", at), text.size());
    const std::string word = text.substr(at, end - at);
    const bool unit = words.size() > 2 && word.find('=') == std::string::npos;
    if (unit) {
      words.back() += " " + word;
    } else {
      words.push_back(word);
    }
    at = end;
  }
  return words;
}

Unit UnitOf(const std::string& key) {
  return key == "latency"                               ? Unit::kSeconds
         : key == "oversubscription" || key == "slices" ? Unit::kNumber
                                                        : Unit::kBytesPerSecond;
}

Status ReadFigure(const std::string& key, const std::string& value, Line& line) {
  static const std::vector<std::string> kKeys = {
      "ib", "roce", "efa", "eth", "tcp", "dcn", "latency", "oversubscription", "slices"};
  if (std::find(kKeys.begin(), kKeys.end(), key) == kKeys.end())
    return Bad(fmt::format("a cluster has no `{}`", key),
               DidYouMean(key, kKeys, "ib, roce, efa, eth, tcp, dcn, latency, oversubscription, slices"));
  const Unit unit = UnitOf(key);
  const bool bare = value.find_first_not_of("0123456789.eE+-") == std::string::npos;
  if (bare && unit != Unit::kNumber) {
    return Bad(fmt::format("`{}={}` has no unit", key, value),
               key == "latency" ? "latency=2us" : fmt::format("{}={}Gbit/s or {}={}GB/s", key, value, key, value));
  }
  const auto amount = ParseQuantity(value, unit);
  if (!amount || !std::isfinite(*amount)) return Bad(fmt::format("`{}={}`: no such quantity", key, value));
  const bool zero = key == "latency" && *amount == 0;
  if (!(*amount > 0) && !zero) return Bad(fmt::format("`{}={}` must be above 0", key, value));
  if (key == "latency") {
    if (*amount * 1e9 > kMostLatencyNs) return Bad(fmt::format("no link has `{}={}`", key, value), "latency=2us");
    line.latency_ns = *amount * 1e9;
  } else if (key == "oversubscription") {
    if (*amount < 1)
      return Bad(fmt::format("`{}={}` must be 1 or more", key, value), "oversubscription=2: half the bandwidth");
    line.oversubscription = *amount;
  } else if (key == "slices") {
    if (*amount != std::floor(*amount) || *amount > kMostNpus) return Bad(fmt::format("`slices={}`", value));
    line.slices = static_cast<uint32_t>(*amount);
  } else if (!IsLinkBandwidth(*amount)) {
    return Bad(fmt::format("`{}={}`: no link has {:g} byte/s", key, value, *amount), fmt::format("{}=400Gbit/s", key));
  } else {
    line.bandwidth = *amount;
    line.rate = key;
    line.tcp = key == "tcp";
  }
  return {};
}

Result<Line> ParseLine(const std::string& text) {
  const std::vector<std::string> words = WordsOf(text);
  if (words.size() < 2) return Bad(fmt::format("`{}` has no counts", text));
  Line line{.device = words[0]};
  const auto counts = CountsOf(words[1]);
  if (!counts) return Bad(fmt::format("`{}` are no counts", words[1]), "levels from the inside, as 8x64");
  line.counts = *counts;
  uint64_t npus = 1;
  for (const uint32_t count : line.counts) {
    if (count < 1) return Bad(fmt::format("`{}`: a level has at least one device", words[1]));
    npus *= count;
    if (npus > kMostNpus) return Bad(fmt::format("`{}` are more than {} devices", words[1], kMostNpus));
  }
  std::vector<std::string> given;
  for (size_t i = 2; i < words.size(); ++i) {
    const size_t equals = words[i].find('=');
    if (equals == std::string::npos) return Bad(fmt::format("`{}` is no KEY=VALUE", words[i]));
    const std::string key = words[i].substr(0, equals);
    if (Status read = ReadFigure(key, words[i].substr(equals + 1), line); !read) return read.error();
    const bool rate = UnitOf(key) == Unit::kBytesPerSecond;  // ib, roce, efa, eth, tcp and dcn are one figure
    const std::string figure = rate ? "the network's bandwidth" : key;
    if (std::find(given.begin(), given.end(), figure) != given.end())
      return Bad(fmt::format("`{}` states {} again", words[i], figure), "state each figure once");
    given.push_back(figure);
  }
  if (npus * line.slices > kMostNpus) return Bad(fmt::format("`{}` are more than {} devices", text, kMostNpus));
  return line;
}

double LatencyOf(const Interconnect& ports) { return ports.latency ? ports.latency->seconds() * 1e9 : 1000; }

// A torus closes an axis where the vendor's slices do: TPU v5e and v6e on axes of 16, 3-D ones where all are multiples
// of 4 (jax-ml/scaling-book 0819a7d).
bool Closes(const std::vector<uint32_t>& shape, size_t axis) {
  if (shape.size() < 3) return shape[axis] >= 16;
  return std::ranges::all_of(shape, [](uint32_t extent) { return extent % 4 == 0; });
}

// Over one link of the chip, whose devices share it (Google Cloud, TPU7x: "six times faster than a 1D ICI link").
constexpr double kDieToDie = 6;

// The counts are those of chips, which may be several devices.
Result<std::vector<NetworkDimension>> TorusLevels(const Device& device, const Line& line) {
  const Interconnect& ports = *device.interconnect;
  const auto axes = static_cast<size_t>(std::max(2, ports.links.value_or(4)) / 2);
  if (line.counts.size() > axes)
    return Bad(fmt::format("{} has a torus of {} axes, not {}", device.name, axes, line.counts.size()));
  std::vector<uint32_t> shape = line.counts;
  shape.resize(axes, 1);
  std::vector<NetworkDimension> dimensions;
  const double link = ports.bandwidth.value / (2.0 * static_cast<double>(axes)) / kBinaryGiga;
  const auto dies = static_cast<uint32_t>(std::max(1, ports.domain_size.value_or(1)));
  if (dies > 1) {
    dimensions.push_back({.kind = DimensionKind::kRing,
                          .npus = dies,
                          .bandwidth = kDieToDie * dies * link,
                          .latency = LatencyOf(ports),
                          .open = true});
  }
  for (size_t axis = 0; axis < axes; ++axis) {
    if (shape[axis] < 2) continue;
    dimensions.push_back({.kind = DimensionKind::kRing,
                          .npus = shape[axis],
                          .bandwidth = link,
                          .latency = LatencyOf(ports),
                          .open = !Closes(shape, axis)});
  }
  return dimensions;
}

Result<NetworkDimension> HostLevel(const Device& device, uint32_t count) {
  const Interconnect& ports = *device.interconnect;
  if (ports.domain_size && count > static_cast<uint32_t>(*ports.domain_size)) {
    return Bad(fmt::format("{} of {} joins {} devices, not {}", ports.name, device.name, *ports.domain_size, count),
               fmt::format("{}x{} puts them in several hosts", *ports.domain_size,
                           (count + static_cast<uint32_t>(*ports.domain_size) - 1) /
                               static_cast<uint32_t>(*ports.domain_size)));
  }
  const bool mesh = ports.topology == "mesh";
  const bool ring = ports.topology == "ring";
  return NetworkDimension{.kind = mesh   ? DimensionKind::kFullyConnected
                                  : ring ? DimensionKind::kRing
                                         : DimensionKind::kSwitch,
                          .npus = count,
                          .bandwidth = ports.bandwidth.value /
                                       (mesh   ? std::max(1.0, count - 1.0)
                                        : ring ? 2.0
                                               : 1.0) /
                                       kBinaryGiga,
                          .latency = LatencyOf(ports)};
}

Result<System> Build(const Device& device, const Line& line, std::string name) {
  if (!device.interconnect || device.interconnect->bandwidth.value <= 0)
    return Bad(fmt::format("{} states no links between devices", device.name), "a device with `interconnect`");
  System system{.name = std::move(name), .device = device.name};
  std::vector<uint32_t> outer;
  const bool torus = device.interconnect->topology == "torus";
  if (torus) {
    auto levels = TorusLevels(device, line);
    if (!levels) return levels.error();
    system.dimensions = *std::move(levels);
    outer.push_back(line.slices);
  } else {
    if (line.slices > 1)
      return Bad(fmt::format("`slices` are of TPUs; {} has hosts", device.name), "8x4: 4 hosts of 8");
    if (line.counts[0] > 1) {
      auto host = HostLevel(device, line.counts[0]);
      if (!host) return host.error();
      system.dimensions.push_back(*host);
    }
    outer.assign(line.counts.begin() + 1, line.counts.end());
  }
  const Reference* reference = ReferenceOf(device.name);
  double share = 1;
  for (const uint32_t count : outer) {
    if (count < 2) continue;
    if (!line.bandwidth && reference == nullptr) {
      return Bad(fmt::format("no reference network is known for {}", device.name),
                 "state the adapter of each device, as ib=200Gbit/s");
    }
    const double bandwidth = line.bandwidth.value_or(reference != nullptr ? reference->bytes_per_second : 0);
    system.dimensions.push_back({.kind = DimensionKind::kSwitch,
                                 .npus = count,
                                 .bandwidth = bandwidth / share / kBinaryGiga,
                                 .latency = line.latency_ns.value_or(torus ? kDataCentreLatencyNs : kNetworkLatencyNs),
                                 .between_hosts = true,
                                 .tcp = line.tcp});
    share *= line.oversubscription;
  }
  if (system.dimensions.empty()) return Bad("a network joins at least two devices");
  // A part of a larger system, as `plan` has them, keeps its line: its levels between hosts may have one.
  const bool between = torus ? line.slices > 1 : !outer.empty();
  if ((line.bandwidth || line.latency_ns) && !between)
    return Bad(
        fmt::format("`{}` is of a network between {}, and there is one {}", line.bandwidth ? line.rate : "latency",
                    torus ? "slices" : "hosts", torus ? "slice" : "host"),
        torus ? "slices=2 has one; links of a slice are the device's own"
              : "8x4 has one; links in a host are the device's own (--set \"system.latency[0]=2 us\")");
  if (line.oversubscription > 1 && outer.size() < 2)
    return Bad(fmt::format("`oversubscription={:g}` is of levels above the first network, and there is none",
                           line.oversubscription),
               torus ? "state what a chip gets of the data-centre network: dcn=10Gbit/s"
                     : "8x8x8: hosts, their leaf switches, and a spine with a part of the leaves' bandwidth");
  if (auto fault = TcpFault(device, system)) return *std::move(fault);
  SetDefaultSettings(system);
  system.memory_bandwidth = device.memory_bandwidth.value / 1e9;
  return system;
}

}  // namespace

// Settings that ASTRA-sim needs, as the presets of single hosts have them.
void SetDefaultSettings(System& system) {
  system.endpoint_delay = 1;
  system.dataset_splits = 1;
  system.optimization = CollectiveOptimization::kLocalBandwidthAware;
  for (CollectiveSettings& collective : system.collectives) {
    collective.algorithms.emplace();
    for (const NetworkDimension& dimension : system.dimensions) {
      const bool mesh = dimension.kind == DimensionKind::kFullyConnected;
      collective.algorithms->push_back({.kind = mesh ? AlgorithmKind::kDirect : AlgorithmKind::kRing});
    }
  }
}

bool PassesTcp(const System& system) {
  return std::any_of(system.dimensions.begin(), system.dimensions.end(), [](const auto& d) { return d.tcp; });
}

std::optional<Error> TcpFault(const Device& device, const System& system) {
  if (device.family != "tpu" || !PassesTcp(system)) return std::nullopt;
  return Bad(fmt::format("`tcp` joins hosts of GPUs; slices of {} meet on the data-centre network", device.name),
             "in a line dcn=10Gbit/s, in `between_hosts` true");
}

bool IsClusterText(std::string_view text) {
  const size_t start = text.find_first_not_of(" \t");
  const size_t space = text.find_first_of(" \t", start);
  if (start == std::string_view::npos || space == std::string_view::npos || text[start] == '{') return false;
  std::error_code unused;
  if (text.ends_with(".json") || std::filesystem::exists(text, unused)) return false;  // a file with spaces in its name
  const size_t counts = text.find_first_not_of(" \t", space);
  return counts != std::string_view::npos && text[counts] >= '0' && text[counts] <= '9' &&
         text.substr(0, space).find('/') == std::string_view::npos;
}

bool IsOwnDescription(const std::string& name) {
  if (IsClusterText(name)) return false;
  return IsInlineJson(name) || name.find('/') != std::string::npos || name.ends_with(".json");
}

Result<System> ParseCluster(const std::string& text, Diagnostics& diagnostics) {
  const auto line = ParseLine(text);
  if (!line) return line.error();
  const auto path = FindPreset(PresetKind::kDevice, line->device);
  if (!path) return path.error();
  const auto device = LoadDevice(line->device, diagnostics);
  if (!device) return Bad(fmt::format("the device `{}` cannot be read", line->device));
  return Build(*device, *line, text);
}

Result<System> LoadNamedSystem(const std::string& name, const LoadOptions& options, Diagnostics& diagnostics) {
  if (IsInlineJson(name)) return ParseSystem(name, "<system>", options, diagnostics);
  if (IsClusterText(name)) return ParseCluster(name, diagnostics);
  const auto path = FindPreset(PresetKind::kSystem, name);
  if (!path) return path.error();
  return LoadSystem(path->string(), options, diagnostics);
}

std::vector<uint32_t> SliceShape(uint64_t chips, size_t axes) {
  std::vector<uint32_t> shape(axes, 1);
  if (chips == 0 || (chips & (chips - 1)) != 0) return {};
  // The last axes grow first: 2x4, 4x4, 4x8 and 2x2x4, 2x4x4, 4x4x4.
  size_t axis = axes;
  for (; chips > 1; chips /= 2) {
    axis = axis == 0 ? axes - 1 : axis - 1;
    shape[axis] *= 2;
    if (axis == 0) axis = axes;
  }
  return shape;
}

double ReferenceRate(const Device& device) {
  const Reference* reference = ReferenceOf(device.name);
  return reference != nullptr ? reference->bytes_per_second : 0;
}

Result<System> ReferenceCluster(const Device& device, uint64_t npus) {
  if (!device.interconnect) return Bad(fmt::format("{} states no links between devices", device.name));
  const Interconnect& ports = *device.interconnect;
  Line line{.device = device.name};
  const std::string name = fmt::format("reference network of {} {}", npus, device.name);
  if (ports.topology == "torus") {
    const auto axes = static_cast<size_t>(std::max(2, ports.links.value_or(4)) / 2);
    const auto dies = static_cast<uint64_t>(std::max(1, ports.domain_size.value_or(1)));
    const uint64_t chips = npus / dies;
    // Slices of at most 256 chips of two axes (16 x 16), 4,096 of three.
    const uint64_t most = axes < 3 ? 256 : 4096;
    line.slices = static_cast<uint32_t>(chips > most ? chips / most : 1);
    line.counts = SliceShape(chips > most ? most : chips, axes);
    if (npus % dies != 0 || line.counts.empty() || (chips > most && chips % most != 0)) {
      return Bad(fmt::format("no slice of {} has {} devices", device.name, npus),
                 fmt::format("state the axes: --system \"{} 4x4{}\"", device.name, axes > 2 ? "x8" : ""));
    }
    return Build(device, line, name);
  }
  const auto domain = static_cast<uint64_t>(std::max(1, ports.domain_size.value_or(8)));
  const uint64_t inside = std::min(npus, domain);
  if (npus % inside != 0 || npus / inside > kMostNpus) {
    return Bad(fmt::format("{} devices do not fill hosts of {} {}", npus, inside, device.name),
               fmt::format("state the levels: --system \"{} {}x{}\"", device.name, npus % 4 == 0 ? 4 : 1,
                           npus % 4 == 0 ? npus / 4 : npus));
  }
  line.counts = {static_cast<uint32_t>(inside), static_cast<uint32_t>(npus / inside)};
  return Build(device, line, name);
}

}  // namespace hespas::hardware
