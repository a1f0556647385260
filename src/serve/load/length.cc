#include "serve/load/length.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>

namespace hespas::serve {
namespace {

std::vector<std::string> SplitAtColons(const std::string& text) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t colon = std::min(text.find(':', begin), text.size());
    parts.push_back(text.substr(begin, colon - begin));
    begin = colon + 1;
  }
  return parts;
}

std::optional<double> PositiveNumber(const std::string& digits) {
  double value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  const bool ok = error == std::errc() && end == digits.data() + digits.size() && value > 0 && value < 1e9;
  return ok ? std::optional(value) : std::nullopt;
}

// The normal quantile (Acklam's rational approximation is not needed: bisection on erfc is exact enough and plain).
double NormalQuantile(double p) {
  double low = -9;
  double high = 9;
  constexpr int kSteps = 60;
  for (int i = 0; i < kSteps; ++i) {
    const double middle = (low + high) / 2;
    (std::erfc(-middle / std::sqrt(2.0)) / 2 < p ? low : high) = middle;
  }
  return low;
}

}  // namespace

std::optional<Length> Length::Parse(const std::string& text) {
  const std::vector<std::string> parts = SplitAtColons(text);
  Length length;
  const auto a = PositiveNumber(parts.size() == 1 ? parts[0] : parts[1]);
  if (!a) return std::nullopt;
  length.a_ = *a;
  if (parts.size() == 1) return length;
  const std::string& kind = parts[0];
  if (kind == "uniform" || kind == "lognormal") {
    const auto b = parts.size() == 3 ? PositiveNumber(parts[2]) : std::nullopt;
    if (!b || (kind == "uniform" && *b < *a)) return std::nullopt;
    length.kind_ = kind == "uniform" ? Kind::kUniform : Kind::kLogNormal;
    length.b_ = *b;
    return length;
  }
  if (parts.size() != 2 || (kind != "exponential" && kind != "geometric")) return std::nullopt;
  length.kind_ = kind == "exponential" ? Kind::kExponential : Kind::kGeometric;
  if (length.kind_ == Kind::kGeometric && *a < 1) return std::nullopt;
  return length;
}

Length Length::Of(std::vector<double> values) {
  Length length;
  length.kind_ = Kind::kValues;
  length.values_ = std::move(values);
  return length;
}

double Length::Draw(double uniform) const {
  switch (kind_) {
    case Kind::kConstant:
      return a_;
    case Kind::kUniform:
      return std::floor(a_ + uniform * (b_ - a_ + 1));
    case Kind::kExponential:
      return -a_ * std::log1p(-uniform);
    case Kind::kGeometric:
      return a_ <= 1 ? 1 : std::ceil(std::log1p(-uniform) / std::log1p(-1 / a_) + 1e-12);
    case Kind::kLogNormal: {
      const double variance = std::log1p(b_ * b_);
      return a_ * std::exp(std::sqrt(variance) * NormalQuantile(uniform) - variance / 2);
    }
    case Kind::kValues:
      return values_[static_cast<size_t>(uniform * static_cast<double>(values_.size()))];
  }
  return a_;
}

double Length::Mean() const {
  if (kind_ == Kind::kUniform) return (std::floor(a_) + std::floor(b_)) / 2;
  if (kind_ != Kind::kValues) return a_;
  return std::accumulate(values_.begin(), values_.end(), 0.0) / static_cast<double>(values_.size());
}

double Length::Longest() const {
  constexpr double kTail = 0.999;
  if (kind_ == Kind::kUniform) return b_;
  if (kind_ == Kind::kValues) return *std::max_element(values_.begin(), values_.end());
  return Draw(kTail);
}

}  // namespace hespas::serve
