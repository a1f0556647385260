// Numbers and texts as Python prints them, for outputs that scripts of the prototype's users read.
#pragma once

#include <string>
#include <string_view>

namespace hespas::driver::compat {

// repr(x): the shortest text that reads back, "1e-05", "0.1", "16.0".
std::string Repr(double x);

// repr(round(x, 3)).
std::string RoundedRepr(double x);

// `value` with three decimals at most, the SI prefix that brings it near 1, and the unit: "13.215 TFLOPS/s".
std::string WithPrefix(double value, std::string_view unit);

// A Python string literal in JSON (ASCII only, as json.dump writes).
std::string JsonString(std::string_view text);

}  // namespace hespas::driver::compat
