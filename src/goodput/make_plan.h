// From a step, options and settings to the plan that the engines take.
#pragma once

#include "goodput/estimate.h"

namespace hespas::goodput {

inline constexpr double kDay = 86400;
inline constexpr double kKilowattHour = 3.6e6;  // J

inline constexpr DiagnosticKind kBadRun{
    "E0878",
    "An option of `hespas goodput` is out of range: tokens, devices, batch and state are numbers above 0, spares and "
    "the "
    "least nodes of an elastic job whole numbers, the mean time between failures a time above 0.",
    Outcome::kUsage};

// Defaults, what the device says, what the user says.
Result<Settings> SettingsOf(const Step& step, const Options& options);

// Of the logarithm of the failure rate: a mean time between failures that the user states is known.
double RateSigma(const Answer& answer);

// Fills the answer's plan, and the figures it was made from. Needs its settings and power.
Status MakePlan(Answer& answer);

}  // namespace hespas::goodput
