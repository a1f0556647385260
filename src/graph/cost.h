// CostFunction: what fusion decisions ask. The driver hands in one that is made from the chosen device.
#pragma once

#include "base/units.h"

namespace hespas::graph {

// Work of one memory-bound kernel.
struct KernelWork {
  double bytes = 0;         // read and written in device memory
  double instructions = 0;  // scalar instructions, summed over all elements
};

class CostFunction {
 public:
  virtual ~CostFunction() = default;
  virtual Time KernelTime(const KernelWork& work) const = 0;  // launch included
};

// Whichever takes longer, memory or issue, plus a launch.
class SimpleCost : public CostFunction {
 public:
  struct Rates {
    double bytes_per_second = 1.2e12;         // sustained; about an A100
    double instructions_per_second = 5.8e12;  // sustained
    Time launch = Time(1'000'000);
  };
  SimpleCost() = default;
  explicit SimpleCost(Rates rates) : rates_(rates) {}
  Time KernelTime(const KernelWork& work) const override {
    const double memory = work.bytes / rates_.bytes_per_second;
    const double issue = work.instructions / rates_.instructions_per_second;
    return rates_.launch + Time::Seconds(std::max(memory, issue));
  }

 private:
  Rates rates_;
};

}  // namespace hespas::graph
