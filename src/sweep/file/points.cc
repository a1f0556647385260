#include "sweep/file/points.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <unordered_set>

#include "sweep/file/ranges.h"

namespace hespas::sweep {
namespace {

constexpr uint64_t kMost = uint64_t{1} << 62;
constexpr uint64_t kMostLooked = 100'000'000;  // of a product under filters
constexpr uint64_t kTries = 1000;              // for each point of a filtered sample

// The same on every machine, as std::uniform_real_distribution is not.
double Share(std::mt19937_64& random) { return static_cast<double>(random() >> 11) * 0x1p-53; }

}  // namespace

Points::Points(const SweepFile& file) : file_(&file) {
  std::vector<bool> zipped(file.axes.size());
  for (const auto& together : file.zips) {
    for (const size_t axis : together) zipped[axis] = true;
  }
  for (size_t i = 0; i < file.axes.size(); ++i) {
    const auto group = std::find_if(file.zips.begin(), file.zips.end(), [&](const auto& zip) { return zip[0] == i; });
    if (zipped[i] && group == file.zips.end()) continue;  // stands where its group's first axis does
    const Axis& axis = file.axes[i];
    dimensions_.push_back({.axes = zipped[i] ? *group : std::vector{i}, .size = axis.range ? 0 : axis.values.size()});
    const uint64_t size = std::max<uint64_t>(1, dimensions_.back().size);
    total_ = total_ > kMost / size ? kMost : total_ * size;
  }
}

Result<Points> Points::Make(const SweepFile& file) {
  Points points(file);
  Status filled;
  switch (file.sample.method) {
    case Method::kProduct:
      filled = points.FillProduct();
      break;
    case Method::kRandom:
      points.OnlyLists() ? points.FillLists() : points.FillRandom();
      break;
    case Method::kLatinHypercube:
      points.FillLatinHypercube();
  }
  if (!filled) return filled.error();
  if (points.size() == 0) {
    return MakeError(kEmptySweep, "the sweep has no points: the filters let nothing through", {.file = file.path},
                     "loosen `filter`, or add values");
  }
  return points;
}

bool Points::OnlyLists() const {
  return std::all_of(dimensions_.begin(), dimensions_.end(), [](const Dimension& d) { return d.size > 0; });
}

bool Points::Passes(const Settings& values) const {
  const auto lookup = [&](const std::string& name) -> Json {
    for (const Settings* settings : {&values, &file_->base}) {
      for (const auto& [setting, value] : *settings) {
        if (setting == name) return value;
      }
    }
    return {};
  };
  return std::all_of(file_->filters.begin(), file_->filters.end(),
                     [&](const Expression& filter) { return filter.Holds(lookup); });
}

Settings Points::Product(uint64_t number) const {
  std::vector<uint64_t> at(file_->axes.size());
  for (size_t d = dimensions_.size(); d-- > 0;) {
    for (const size_t axis : dimensions_[d].axes) at[axis] = number % dimensions_[d].size;
    number /= dimensions_[d].size;
  }
  Settings values;
  for (size_t i = 0; i < at.size(); ++i) values.emplace_back(file_->axes[i].name, file_->axes[i].values[at[i]]);
  return values;
}

Settings Points::Sampled(const double* shares) const {
  Settings values(file_->axes.size());
  for (size_t d = 0; d < dimensions_.size(); ++d) {
    for (const size_t i : dimensions_[d].axes) {
      const Axis& axis = file_->axes[i];
      const auto at = static_cast<size_t>(shares[d] * static_cast<double>(axis.values.size()));
      values[i] = {axis.name, axis.range ? ValueAt(*axis.range, shares[d]) : axis.values[at]};
    }
  }
  return values;
}

Settings Points::ValuesOf(size_t i) const {
  const uint64_t number = numbers_[i];
  if (!shares_.empty()) return Sampled(&shares_[number * dimensions_.size()]);
  return Product(of_sample_.empty() ? number : of_sample_[number]);
}

Status Points::FillProduct() {
  if (total_ > kMostLooked) {
    return MakeError(kTooManyPoints,
                     total_ == kMost ? std::string("the product of the axes has more than 10^18 points")
                                     : fmt::format("the product of the axes has {} points", total_),
                     {.file = file_->path},
                     "take a sample: `sample: {method: latin-hypercube, count: 10000, seed: 1}`");
  }
  for (uint64_t number = 0; number < total_; ++number) {
    if (file_->filters.empty() || Passes(Product(number))) numbers_.push_back(number);
  }
  return {};
}

void Points::FillLists() {
  std::mt19937_64 random(file_->sample.seed);
  std::unordered_set<uint64_t> seen;
  const uint64_t count = std::min(file_->sample.count, total_);
  for (uint64_t tries = 0; of_sample_.size() < count && tries < kTries * count; ++tries) {
    const auto number = std::min(total_ - 1, static_cast<uint64_t>(Share(random) * static_cast<double>(total_)));
    if (!seen.insert(number).second || !Passes(Product(number))) continue;
    numbers_.push_back(of_sample_.size());
    of_sample_.push_back(number);
  }
  if (of_sample_.size() == count || total_ > kMostLooked) return;
  // What luck has not found, where little is left.
  for (uint64_t number = 0; of_sample_.size() < count && number < total_; ++number) {
    if (!seen.insert(number).second || !Passes(Product(number))) continue;
    numbers_.push_back(of_sample_.size());
    of_sample_.push_back(number);
  }
}

void Points::FillRandom() {
  std::mt19937_64 random(file_->sample.seed);
  std::vector<double> shares(dimensions_.size());
  for (uint64_t tries = 0; numbers_.size() < file_->sample.count && tries < kTries * file_->sample.count; ++tries) {
    for (double& share : shares) share = Share(random);
    if (!Passes(Sampled(shares.data()))) continue;
    numbers_.push_back(numbers_.size());
    shares_.insert(shares_.end(), shares.begin(), shares.end());
  }
}

// Every axis is cut into as many strata as there are points, and each stratum is met once (McKay, Beckman and Conover
// 1979).
void Points::FillLatinHypercube() {
  std::mt19937_64 random(file_->sample.seed);
  const uint64_t count = file_->sample.count;
  shares_.resize(count * dimensions_.size());
  std::vector<uint64_t> strata(count);
  for (size_t d = 0; d < dimensions_.size(); ++d) {
    std::iota(strata.begin(), strata.end(), uint64_t{0});
    for (uint64_t i = count; i-- > 1;) {
      std::swap(strata[i], strata[static_cast<uint64_t>(Share(random) * static_cast<double>(i + 1))]);
    }
    for (uint64_t i = 0; i < count; ++i) {
      const double share = (static_cast<double>(strata[i]) + Share(random)) / static_cast<double>(count);
      shares_[i * dimensions_.size() + d] = std::min(share, 1 - 0x1p-53);
    }
  }
  for (uint64_t i = 0; i < count; ++i) {
    if (file_->filters.empty() || Passes(Sampled(&shares_[i * dimensions_.size()]))) numbers_.push_back(i);
  }
}

}  // namespace hespas::sweep
