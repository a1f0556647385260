// The page of `hespas goodput`: one file, readable without a script.
#pragma once

#include <string>

#include "goodput/curves.h"

namespace hespas::goodput {

std::string Page(const Answer& answer, const Curves& curves, const std::string& command);

}  // namespace hespas::goodput
