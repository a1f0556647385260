// The points of a sweep as data for the page's parallel coordinates (data/report/sweep.js).
#pragma once

#include <string>
#include <vector>

#include "sweep/answer/row.h"

namespace hespas::sweep {

// "point 3: 29.5 ms, device MI300X, 139 k a second and device, 17.2 % MFU": what varies, and how fast it is.
std::string TitleOf(const Json& row, const std::vector<std::string>& varying);

// Places of the points that charts draw, evenly spread: all of a few thousand.
std::vector<size_t> DrawnOf(size_t points);

// One JSON object: `axes` (name; labels of a setting, or kind of a result), `numbers` of all points, `columns` (of each
// axis a value or null for each point), `drawn` with the `titles` of those, and `colour`, the axis that colours tell
// apart, or -1. Settings are numbers of their label.
std::string ExploreData(const std::vector<Json>& rows, const std::vector<std::string>& varying);

}  // namespace hespas::sweep
