#include "driver/inspect/tables/describe_system.h"

#include <fmt/format.h>

namespace hespas::driver {
namespace {

constexpr double kBinaryGiga = 1073741824.0;

std::string_view KindOf(const hardware::NetworkDimension& dimension) {
  switch (dimension.kind) {
    case hardware::DimensionKind::kRing:
      return dimension.open ? "line" : "ring";
    case hardware::DimensionKind::kFullyConnected:
      return "mesh";
    case hardware::DimensionKind::kSwitch:
      return "switch";
  }
  return "";
}

// Of all links of a device, one way, in bytes a second.
double PortsOf(const hardware::NetworkDimension& dimension) {
  double links = 1;
  if (dimension.kind == hardware::DimensionKind::kFullyConnected) links = dimension.npus - 1.0;
  if (dimension.kind == hardware::DimensionKind::kRing && dimension.npus > 2 && !dimension.open) links = 2;
  return dimension.bandwidth * kBinaryGiga * links;
}

}  // namespace

std::string LevelLine(const hardware::System& system, size_t d) {
  const hardware::NetworkDimension& dimension = system.dimensions[d];
  std::string line = fmt::format("dimension {}: {} of {}, {:.6g} GB/s a link, {:.6g} us", d, KindOf(dimension),
                                 dimension.npus, dimension.bandwidth * kBinaryGiga / 1e9, dimension.latency / 1e3);
  if (d > 0) {
    line += fmt::format("; 1 : {:.3g} of dimension {}'s bandwidth",
                        PortsOf(system.dimensions[d - 1]) / PortsOf(dimension), d - 1);
  }
  return line;
}

std::string DescribeSystem(const hardware::System& system) {
  std::string text = fmt::format("{}: {} devices\n", system.name, system.npus());
  std::string indent;
  for (size_t d = system.dimensions.size(); d-- > 0;) {
    text += fmt::format("{}└─ {}\n", indent, LevelLine(system, d));
    indent += "   ";
  }
  return text + fmt::format("{}└─ {}\n", indent, system.device.empty() ? "a device" : system.device);
}

}  // namespace hespas::driver
