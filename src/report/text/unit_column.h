// Columns of quantities in one unit, chosen for the largest of them: "time [ms]" with 58.50, 0.01, ...
#pragma once

#include <string>
#include <vector>

#include "base/units.h"
#include "report/text/table.h"

namespace hespas::report {

struct UnitColumn {
  Column column;
  std::vector<std::string> cells;
};

UnitColumn TimeColumn(const std::string& name, const std::vector<Time>& times);
UnitColumn BytesColumn(const std::string& name, const std::vector<Bytes>& sizes);
UnitColumn FlopsColumn(const std::string& name, const std::vector<Flops>& counts);

// Appends the column; the table's rows must be as many as its cells (or none, then they are made).
void AddColumn(Table& table, UnitColumn column);

}  // namespace hespas::report
