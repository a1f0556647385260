// {from, to, steps | step, scale: linear | log}: a list of values, or without steps a range to draw from.
#pragma once

#include "base/result.h"
#include "sweep/file/sweep_file.h"

namespace hespas::sweep {

// Ends are numbers, or texts of one unit; values then have the unit of `from`. The message says what is wrong.
Result<Axis> ReadRange(const std::string& name, const Json& range);

// The value at a share of the range, 0 to 1.
Json ValueAt(const Range& range, double share);

}  // namespace hespas::sweep
