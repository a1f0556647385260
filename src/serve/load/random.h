// Uniform numbers in [0, 1), the same on every machine.
#pragma once

#include <cmath>
#include <cstdint>
#include <random>

namespace hespas::serve {

class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}
  double Uniform() {
    constexpr int kMantissa = 53;
    return std::ldexp(static_cast<double>(engine_() >> (64 - kMantissa)), -kMantissa);
  }
  // Normal with mean 0 and variance 1 (Box and Muller).
  double Normal() {
    const double radius = std::sqrt(-2 * std::log1p(-Uniform()));
    return radius * std::cos(6.283185307179586 * Uniform());
  }
  // Gamma with mean 1 (Marsaglia and Tsang, ACM TOMS 26, 2000; below shape 1 by their boost).
  double Gamma(double shape) {
    if (shape < 1) return Gamma(shape + 1) * (shape + 1) / shape * std::pow(1 - Uniform(), 1 / shape);
    const double d = shape - 1.0 / 3;
    for (;;) {
      const double x = Normal();
      const double v = std::pow(1 + x / std::sqrt(9 * d), 3);
      if (v > 0 && std::log1p(-Uniform()) < x * x / 2 + d * (1 - v + std::log(v))) return d * v / shape;
    }
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace hespas::serve
