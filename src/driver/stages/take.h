// How stages hand on what libraries return as a Result.
#pragma once

#include <optional>
#include <utility>

#include "base/diagnostic.h"
#include "base/result.h"

namespace hespas::driver {

// Moves the value out, or reports the error once.
template <class T>
std::optional<T> Take(Result<T> result, Diagnostics& diagnostics) {
  if (result) return std::move(*result);
  if (!diagnostics.has_errors()) diagnostics.Report(result.error());
  return std::nullopt;
}

}  // namespace hespas::driver
