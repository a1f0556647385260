// The profile of a program, from the cost rules of the estimators.
#pragma once

#include "ir/module.h"
#include "report/text/program/profile.h"

namespace hespas::driver {

// From main; from every function that nobody calls where there is no main. Linear in the program.
report::Profile ProfileOf(const ir::Module& module);

}  // namespace hespas::driver
