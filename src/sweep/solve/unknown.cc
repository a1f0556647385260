#include "sweep/solve/unknown.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "base/text/suggest.h"
#include "driver/configuration/changes.h"
#include "report/text/efficiency.h"
#include "report/text/table.h"

namespace hespas::sweep {
namespace {

constexpr std::string_view kDimension = "bind.";
constexpr std::string_view kConstant = "device.calibration.";

}  // namespace

Result<Unknown> Unknown::Parse(const std::string& text) {
  if (text == "devices") return Unknown{Kind::kDevices, text};
  if (text == "batch") return Unknown{Kind::kBatch, text};
  if (text.starts_with(kDimension) && text.size() > kDimension.size())
    return Unknown{Kind::kDimension, text.substr(kDimension.size())};
  std::vector<std::string> known = driver::ChangeKeys();
  const std::string key = text.substr(0, text.find('['));
  if (text.starts_with(kConstant) || std::ranges::find(known, key) != known.end()) return Unknown{Kind::kFigure, text};
  known.emplace_back("devices");
  known.emplace_back("batch");
  return MakeError(kBadUnknown, fmt::format("there is no `{}` to find", text), {},
                   DidYouMean(key, known, fmt::format("one of {}, bind.NAME", fmt::join(known, ", "))));
}

void Unknown::Apply(double value, driver::RunOptions& options) const {
  switch (kind) {
    case Kind::kFigure:
      options.changes.push_back(fmt::format("{}={}", name, value));
      break;
    case Kind::kDevices:
    case Kind::kBatch:
      options.program.assumptions.devices = std::lround(value);
      break;
    case Kind::kDimension:
      options.program.bind.push_back(fmt::format("{}={}", name, std::lround(value)));
      break;
  }
}

std::string Unknown::OptionFor(double value) const {
  switch (kind) {
    case Kind::kFigure:
      return fmt::format("--set {}={}", name, value);
    case Kind::kDevices:
    case Kind::kBatch:
      return fmt::format("--retarget {}", std::lround(value));
    case Kind::kDimension:
      return fmt::format("--bind {}={}", name, std::lround(value));
  }
  return {};
}

std::string HumanQuantity(double value, Unit unit) {
  switch (unit) {
    case Unit::kSeconds:
      return report::HumanTime(Time::Seconds(value));
    case Unit::kBytes:
      return report::HumanBytes(Bytes(internal::SaturatingRound(value)));
    case Unit::kBytesPerSecond:
      return report::HumanBytes(Bytes(internal::SaturatingRound(value))) + "/s";
    case Unit::kFlopsPerSecond:
      return report::HumanFlops(Flops(internal::SaturatingRound(value))) + "/s";
    case Unit::kHertz:
      return report::HumanNumber(value) + (std::abs(value) < 999.5 ? " Hz" : "Hz");
    case Unit::kWatts:
      return report::HumanNumber(value) + (std::abs(value) < 999.5 ? " W" : "W");
    case Unit::kNumber:
      return fmt::format("{:g}", value);
  }
  return {};
}

}  // namespace hespas::sweep
