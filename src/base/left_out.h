// What a build without one of the optional libraries says (HESPAS_WITH_* in cmake/dependencies.cmake).
#pragma once

#include <string>
#include <utility>

#include "base/result.h"

namespace hespas {

inline constexpr DiagnosticKind kLeftOut{"E0009",
                                         "This build was made without a library that the input or option needs, as the "
                                         "build for browsers is. The command of a "
                                         "full build has it.",
                                         Outcome::kUnsupported};

inline Error LeftOut(const std::string& what, const Location& location = {}, std::string help = {}) {
  return MakeError(kLeftOut, "this build has no " + what, location, std::move(help));
}

}  // namespace hespas
