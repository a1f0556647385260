// CSV with a header line (RFC 4180): quoted cells may hold commas, quotes and line breaks.
//
// - Every row has as many cells as the header; a shorter one is filled with empty cells, a longer one is an error.
// - Cells are kept verbatim; a byte order mark and carriage returns before line ends are dropped.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace hespas {

inline constexpr DiagnosticKind kCsvSyntax{
    "E0809",
    "A CSV table must start with a line of column names; no row may have more cells than that line, and a quoted cell "
    "must be closed."};

struct CsvTable {
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;
  std::vector<int> lines;  // where each row starts in the file

  std::optional<size_t> Column(std::string_view name) const;
};

Result<CsvTable> ParseCsv(std::string_view text, const std::string& file);

// A finite number written with or without a fraction ("579", "579.0", "1e3"); nothing for an empty cell or other text.
std::optional<double> CsvNumber(std::string_view cell);

}  // namespace hespas
