// What this installation has and what it lacks: `hespas doctor`.
#pragma once

#include <string>
#include <vector>

#include "report/text/table.h"

namespace hespas::driver {

// Rows: what, state ("ok", "missing"), version or place, and what for or how to get it. Asks each tool for its version.
report::Table Examine();

}  // namespace hespas::driver
