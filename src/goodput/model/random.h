// Random numbers that are the same on every machine.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>
#include <random>

namespace hespas::goodput {

class Random {
 public:
  Random(uint64_t seed, uint64_t run, uint64_t stream) {
    std::seed_seq sequence{static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32), static_cast<uint32_t>(run),
                           static_cast<uint32_t>(run >> 32), static_cast<uint32_t>(stream)};
    engine_.seed(sequence);
  }
  double Uniform() {  // in [0, 1)
    constexpr int kMantissa = 53;
    return std::ldexp(static_cast<double>(engine_() >> (64 - kMantissa)), -kMantissa);
  }
  double Exponential(double mean) { return -mean * std::log1p(-Uniform()); }
  double Normal() {  // Box and Muller
    const double radius = std::sqrt(-2 * std::log1p(-Uniform()));
    return radius * std::cos(2 * std::numbers::pi * Uniform());
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace hespas::goodput
