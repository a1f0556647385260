// Values of a sweep's files and rows.
#pragma once

#include <nlohmann/json.hpp>

namespace hespas::sweep {

using Json = nlohmann::ordered_json;  // axes keep the order of the file

}  // namespace hespas::sweep
