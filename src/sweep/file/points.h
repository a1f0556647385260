// The points of a sweep: products and zips in the order of the file (the last axis varies fastest), or a sample.
//
// - A point's number is its place in the unfiltered product, or in the sample: filters leave gaps.
// - A sample follows from its seed alone, on every machine. Where all axes are lists no point comes twice.
#pragma once

#include <cstdint>
#include <vector>

#include "sweep/file/sweep_file.h"

namespace hespas::sweep {

inline constexpr DiagnosticKind kTooManyPoints{
    "E1007",
    "A sweep of a million points or more runs for a long time: give --yes, or take a `sample`. "
    "--estimate-cost says how long.",
    Outcome::kUsage};

class Points {
 public:
  // Refers to the file.
  static Result<Points> Make(const SweepFile& file);

  size_t size() const { return numbers_.size(); }
  uint64_t NumberOf(size_t i) const { return numbers_[i]; }
  // Values of the axes, in the order of the file.
  Settings ValuesOf(size_t i) const;

 private:
  // Axes that move together.
  struct Dimension {
    std::vector<size_t> axes;
    uint64_t size = 0;  // 0: a range
  };

  explicit Points(const SweepFile& file);
  Settings Product(uint64_t number) const;
  Settings Sampled(const double* shares) const;
  bool Passes(const Settings& values) const;
  Status FillProduct();
  void FillRandom();
  void FillLists();
  void FillLatinHypercube();
  bool OnlyLists() const;

  const SweepFile* file_;
  std::vector<Dimension> dimensions_;
  uint64_t total_ = 1;  // of the product; saturated
  std::vector<uint64_t> numbers_;
  std::vector<double> shares_;       // of samples with ranges: one for each number and dimension
  std::vector<uint64_t> of_sample_;  // of samples of lists: the number in the product
};

}  // namespace hespas::sweep
