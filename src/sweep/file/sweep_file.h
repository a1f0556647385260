// A sweep as its file says it: what varies, how, what counts (docs/sweeps.md, `hespas schema sweep`).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/diagnostic.h"
#include "sweep/columns/columns.h"
#include "sweep/file/expression.h"
#include "sweep/file/settings.h"

namespace hespas::sweep {

inline constexpr DiagnosticKind kBadSweep{
    "E1005",
    "A sweep file has a key or value that sweeps do not have: axes are lists or ranges ({from, to, steps, scale}), "
    "`zip` names axes of equal length, `sample` has method, count and seed. `hespas schema sweep` prints all keys."};
inline constexpr DiagnosticKind kEmptySweep{
    "E1006", "A sweep has no point: an axis is empty, or the filters let nothing through.", Outcome::kUsage};

// Values between two ends that no list names: only a sample can draw from it.
struct Range {
  double from = 0;
  double to = 0;
  bool logarithmic = false;
  std::string unit;  // of the ends' texts, "TB/s"; values are written with it
};

struct Axis {
  std::string name;
  std::vector<Json> values;
  std::optional<Range> range;  // then there are no values
};

enum class Method : uint8_t { kProduct, kRandom, kLatinHypercube };

struct Sample {
  Method method = Method::kProduct;
  uint64_t count = 0;
  uint64_t seed = 0;
};

struct SweepFile {
  std::string path;
  Json definition;         // what rows follow from: the file without goals
  Settings base;           // of every point
  std::vector<Axis> axes;  // in the order of the file
  std::vector<std::vector<size_t>> zips;
  std::vector<Expression> filters;      // on a point's settings
  std::vector<Expression> constraints;  // on results
  Sample sample;
  std::string minimise = "step_time";
  Economy economy;
};

// All defects of the file are reported.
std::optional<SweepFile> ReadSweepFile(const std::string& path, Diagnostics& diagnostics);
// The same of a text; `path` names it.
std::optional<SweepFile> ReadSweepText(std::string text, const std::string& path, Diagnostics& diagnostics);

// Conditions given beside the file; reported into `diagnostics`, too, where no point could meet all of them.
bool AddConstraints(const std::vector<std::string>& texts, SweepFile& file, Diagnostics& diagnostics);
// "2.5", or "H100_80GB=4,A100_SXM_40GB=2".
Status AddPrices(const std::string& text, Economy& economy);

}  // namespace hespas::sweep
