// How many tokens a prompt or an answer has: a number, a distribution, or the cells of a file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "serve/load/random.h"

namespace hespas::serve {

// "128", "uniform:1:256", "exponential:200" (not rounded), "geometric:100", "lognormal:857:1.2" (mean and coefficient
// of variation).
class Length {
 public:
  static std::optional<Length> Parse(const std::string& text);
  // One of the given lengths, each as often as it occurs.
  static Length Of(std::vector<double> values);

  double Draw(double uniform) const;  // `uniform` in [0, 1)
  double Mean() const;
  double Longest() const;  // that a draw is not expected to exceed; of a tail its 99.9th percentile

 private:
  enum class Kind : uint8_t {
    kConstant,
    kUniform,
    kExponential,
    kGeometric,
    kLogNormal,
    kValues
  } kind_ = Kind::kConstant;
  double a_ = 1;
  double b_ = 1;
  std::vector<double> values_;
};

}  // namespace hespas::serve
