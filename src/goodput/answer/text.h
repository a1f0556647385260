// An answer as a table for the terminal, and as JSON (docs/goodput.md lists the keys).
#pragma once

#include <string>

#include "goodput/curves.h"
#include "report/text/table.h"

namespace hespas::goodput {

// Days, hours or minutes, to three digits.
std::string HumanDuration(double seconds);

std::string Summary(const Answer& answer);
report::Table FigureTable(const Answer& answer);      // figure, mean, percentiles
report::Table WaterfallTable(const Answer& answer);   // where the days go
report::Table AssumptionTable(const Answer& answer);  // each setting, its value and source
report::Table ScaleTable(const Curves& curves);       // medians by number of devices
std::string ScaleText(const Curves& curves);          // the same with the knee

// `curves` may be nullptr.
std::string ToJson(const Answer& answer, const Curves* curves, const std::string& command, int indent = 2);

}  // namespace hespas::goodput
