// The accuracy suite as a page of HTML, and as the table of a README.
#pragma once

#include <string>

#include "base/result.h"
#include "report/text/table.h"

namespace hespas::validate {

inline constexpr DiagnosticKind kNoAccuracyMarks{
    "E0981",
    "A document that is to hold the accuracy table needs the lines `<!-- accuracy -->` and `<!-- /accuracy -->`."};

// Both tables on one page that needs nothing else.
std::string AccuracyPage(const report::Table& rows, const report::Table& bounds);

// The text of `file` with the table between its marks.
Result<std::string> WithAccuracy(const std::string& file, const report::Table& table);

}  // namespace hespas::validate
