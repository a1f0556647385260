#include "estimate/field/experts/expert_loads.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

namespace hespas::estimate::field {
namespace {

constexpr int kDrawings = 8;
constexpr double kMostExperts = 65536;
constexpr double kLargestLoad = 0.8;                  // of the tokens, before loads are scaled to their sum
constexpr double kFewLowest = 0.01, kFewLargest = 2;  // the range where experts are more than rows

using Random = std::minstd_rand;  // the same numbers on each platform

double Unit(Random& random) {
  return static_cast<double>(random() - Random::min()) / static_cast<double>(Random::max() - Random::min());
}

size_t Experts(const ExpertLayer& layer) { return static_cast<size_t>(std::min(layer.experts, kMostExperts)); }

size_t OwnExperts(const ExpertLayer& layer) {
  return static_cast<size_t>(std::max(1.0, std::floor(static_cast<double>(Experts(layer)) / layer.ranks)));
}

// Tokens in turn take experts in turn, so a choice adds one row to a run of them, which may pass the last expert.
void AddRun(double first, double length, double experts, std::vector<double>& steps) {
  const auto add = [&](double begin, double end) {  // of this rank's experts
    const auto own = static_cast<double>(steps.size() - 1);
    ++steps[static_cast<size_t>(std::min(begin, own))];
    --steps[static_cast<size_t>(std::min(end, own))];
  };
  for (double begin = std::fmod(first, experts); length > 0; begin = 0) {
    const double part = std::min(length, experts - begin);
    add(begin, begin + part);
    length -= part;
  }
}

// Round robin; few tokens are spread over the experts.
std::vector<double> Balanced(const ExpertLayer& layer) {
  const double mean = layer.tokens * layer.chosen / layer.experts;
  std::vector<double> loads(OwnExperts(layer), mean);
  constexpr double kMany = 4;        // rounds, after which loads are as good as equal
  constexpr double kMostRuns = 1e6;  // of no model; milliseconds
  const double experts = std::floor(layer.experts), tokens = std::ceil(layer.tokens);
  if (layer.tokens > kMany * layer.experts || layer.experts + layer.chosen > kMostRuns) return loads;
  const double stride = std::ceil(layer.experts / layer.chosen);
  std::vector<double> steps(loads.size() + 1);
  for (double choice = 0; choice < layer.chosen; ++choice) {
    if (layer.tokens >= stride) {
      AddRun(choice * stride, tokens, experts, steps);
      continue;
    }
    for (double token = 0; token < tokens; ++token)
      AddRun(std::floor(token * stride / layer.tokens) + choice * stride, 1, experts, steps);
  }
  std::partial_sum(steps.begin(), steps.end() - 1, loads.begin());
  return loads;
}

// Whole rows with the sum `rows`: what is missing goes to the largest, what is too much comes off the smallest.
void RoundTo(double rows, std::vector<double>& loads, Random& random) {
  std::vector<double> order(loads.size());
  for (double& load : loads) load = std::round(load);
  for (size_t i = 0; i < loads.size(); ++i) order[i] = loads[i] + Unit(random) / 2;
  std::vector<size_t> largest(loads.size());
  std::iota(largest.begin(), largest.end(), size_t{0});
  std::sort(largest.begin(), largest.end(), [&](size_t a, size_t b) { return order[a] > order[b]; });
  double missing = rows - std::accumulate(loads.begin(), loads.end(), 0.0);
  const double each = std::floor(std::max(0.0, missing) / static_cast<double>(loads.size()));
  for (double& load : loads) load += each;
  missing -= each * static_cast<double>(loads.size());
  for (size_t i = 0; missing >= 1 && i < largest.size(); ++i, --missing) ++loads[largest[i]];
  for (size_t i = largest.size(); missing <= -1 && i-- > 0;) {
    const double taken = std::min(loads[largest[i]], 1.0);
    loads[largest[i]] -= taken;
    missing += taken;
  }
}

// Of one drawing, all experts.
std::vector<double> PowerLaw(const ExpertLayer& layer, Random& random) {
  const double rows = layer.tokens * layer.chosen;
  const bool few = rows <= layer.experts;
  const double power = 1 - layer.exponent;
  const double low = std::pow(few ? kFewLowest : 1, power);
  const double high = std::pow(few ? kFewLargest : std::max(1.5, kLargestLoad * layer.tokens), power);
  std::vector<double> loads(Experts(layer));
  for (double& load : loads) load = std::pow((high - low) * Unit(random) + low, 1 / power);
  const double scale = rows / std::accumulate(loads.begin(), loads.end(), 0.0);
  for (double& load : loads) load *= scale;
  RoundTo(rows, loads, random);
  for (double& load : loads) load = std::min(load, layer.tokens);
  return loads;
}

// The experts of the rank with most rows.
std::vector<double> Busiest(const std::vector<double>& loads, size_t own) {
  size_t best = 0;
  double most = -1;
  for (size_t first = 0; first + own <= loads.size(); first += own) {
    const double rows = std::accumulate(&loads[first], &loads[first] + own, 0.0);
    if (rows > most) most = rows, best = first;
  }
  return {&loads[best], &loads[best] + own};
}

void Append(const std::vector<double>& loads, ExpertLoads& all) {
  for (const double load : loads) {
    if (load > 0) all.rows.push_back(load);
  }
}

}  // namespace

double ExpertLoads::Rows() const { return std::accumulate(rows.begin(), rows.end(), 0.0) / drawings; }

double ExpertLoads::Touched() const { return static_cast<double>(rows.size()) / drawings; }

void ExpertLoads::Group(Matmul& matmul) const {
  matmul.groups = Touched();
  matmul.m = Rows() / matmul.groups;
  matmul.experts = true;
  matmul.loads = rows;
  matmul.drawings = drawings;
}

ExpertLoads LoadsOf(const ExpertLayer& layer) {
  ExpertLoads all;
  if (layer.exponent > 0 && layer.exponent != 1) {
    Random random;
    all.drawings = kDrawings;
    for (int i = 0; i < kDrawings; ++i) Append(Busiest(PowerLaw(layer, random), OwnExperts(layer)), all);
  } else {
    Append(Balanced(layer), all);
  }
  if (all.rows.empty()) all = {.rows = {1}};
  return all;
}

}  // namespace hespas::estimate::field
