// Errors of shipped and of refitted shared constants, by family and device.
#pragma once

#include "estimate/calibrated/parameters.h"
#include "estimate/field/constants.h"
#include "report/text/table.h"
#include "validate/shared_rows.h"

namespace hespas::validate {

struct SharedConstants {
  estimate::calibrated::Parameters parameters;
  estimate::field::Constants field;
};

// Mean |predicted / measured - 1|, the bias, and the mean of calls of 20 us and more.
report::Table SharedErrors(const SharedRows& rows, const SharedConstants& shipped, const SharedConstants& fitted);

}  // namespace hespas::validate
