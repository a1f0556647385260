// How often each op occurs in a program, and the tables `hespas analyze` prints.
//
// - Rows are sorted by count, the largest first; equal counts keep the order of first appearance.
// - With kExpanded a call represents everything in its callee (nested regions too, its func.return aside) and a fusion
//   for its body; calls of unknown or recursive functions count as calls. Work is linear in the program, not in the
//   expansion; counts saturate.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ir/module.h"

namespace hespas::report {

enum class Extent : uint8_t {
  kMain,        // the ops of main's body, its func.return included
  kExpanded,    // the same with calls and fusions expanded
  kAllRegions,  // every op of the module, builtin.module and func.func included; needs no main
};

struct HistogramOptions {
  Extent extent = Extent::kMain;
  bool operand_types = false;  // count each combination of operand types on its own
  bool compatible = false;     // the prototype's: with operand_types nothing is expanded, and types become a hash
};

struct HistogramRow {
  std::string name;
  int64_t count = 0;
};

struct Histogram {
  std::vector<HistogramRow> rows;
  int64_t total = 0;
};

// `module` needs a main unless all regions are asked for; without one the histogram is empty.
Histogram CountOperators(const ir::Module& module, const HistogramOptions& options);

// The prototype's layout; `csv_rows` gives its half-converted CSV (rows only).
std::string ToPrototypeText(const Histogram& histogram, bool csv_rows = false);
std::string ToCsv(const Histogram& histogram);
std::string ToMarkdown(const Histogram& histogram);
// {"total": N, "unique": M, "ops": {"stablehlo.add": 3, ...}}
std::string ToJson(const Histogram& histogram);

}  // namespace hespas::report
