// Runs C++ work without the GIL, so that other threads go on and Ctrl-C is seen.
#pragma once

#include <nanobind/nanobind.h>

#include <optional>
#include <utility>

#include "base/interrupt.h"
#include "estimator.h"

namespace hespas::python {

// What stopped a call from inside: Ctrl-C (any signal whose Python handler raises).
class SignalWatch {
 public:
  bool Raised() {
    const nanobind::gil_scoped_acquire gil;
    if (PyErr_CheckSignals() == 0) return false;
    error_.emplace();
    return true;
  }
  // Needs the GIL.
  void Rethrow() {
    if (error_) throw std::move(*error_);
  }

 private:
  std::optional<nanobind::python_error> error_;
};

// `estimator` may be null; what its Python code raised is raised here.
template <class Work>
auto CallWithoutGil(const PythonEstimator* estimator, Work&& work) {
  SignalWatch signals;
  auto result = [&] {
    const nanobind::gil_scoped_release released;
    const InterruptScope scope([&] { return (estimator != nullptr && estimator->failed()) || signals.Raised(); });
    return work();
  }();
  signals.Rethrow();
  if (estimator != nullptr) estimator->Rethrow();
  return result;
}

}  // namespace hespas::python
