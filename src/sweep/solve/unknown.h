// What a solution looks for: a figure of the device or network, the number of devices, or a symbolic dimension.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "base/text/unit_text.h"
#include "driver/pipeline/run.h"

namespace hespas::sweep {

inline constexpr DiagnosticKind kBadUnknown{
    "E1012",
    "--find takes a figure of the device or network as --set names it (device.memory_bandwidth, system.bandwidth[1]), "
    "`devices` (the program is converted as --retarget does), `batch` (the same, as tokens or samples a step), or "
    "`bind.NAME` (a symbolic dimension).",
    Outcome::kUsage};

struct Unknown {
  enum class Kind : uint8_t { kFigure, kDevices, kBatch, kDimension };
  Kind kind = Kind::kFigure;
  std::string name;  // as given; of a dimension without `bind.`

  static Result<Unknown> Parse(const std::string& text);

  bool whole() const { return kind != Kind::kFigure; }  // takes whole numbers only
  // Puts a value in, in base units.
  void Apply(double value, driver::RunOptions& options) const;
  // What to add to the command to have that value.
  std::string OptionFor(double value) const;
};

// "31.2 GB/s", "8".
std::string HumanQuantity(double value, Unit unit);

}  // namespace hespas::sweep
