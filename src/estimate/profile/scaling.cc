#include "estimate/profile/scaling.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "ir/op_kind.h"
#include "ir/walk.h"

namespace hespas::estimate {
namespace {

constexpr size_t kTraits = std::tuple_size_v<Traits>;
constexpr double kLeastSeconds = 1e-7;  // below, times are the clock's noise

// "dot_general f16 5 7 6": the element type, and of operands and result the numbers of elements as powers of four.
std::string SizesOf(const ir::Module& module, ir::OpId op) {
  std::string text(module.name(op));
  text.append(" ").append(ir::ElementText(module.type(module.results(op)[0]).element));
  const auto add = [&](ir::ValueId value) {
    const double elements = std::max(1.0, static_cast<double>(module.type(value).element_count()));
    text += fmt::format(" {}", std::lround(std::log2(elements) / 2));
  };
  for (const ir::ValueId operand : module.operands(op)) add(operand);
  for (const ir::ValueId result : module.results(op)) add(result);
  return text;
}

}  // namespace

std::string FamilyOf(const ir::Module& module, const graph::Block& block) {
  std::set<std::string_view> names;
  std::multiset<std::string> contractions;
  const auto add = [&](ir::OpId op) {
    names.insert(module.name(op));
    if (ir::Traits(module.kind(op)).sort == ir::OpSort::kContraction) contractions.insert(SizesOf(module, op));
  };
  for (const ir::OpId op : block.ops) {
    add(op);
    ir::WalkNested(module, op, add);
  }
  std::string family;
  for (const std::string_view name : names) family.append(name).append(" ");
  for (const std::string& contraction : contractions) family.append("| ").append(contraction);
  return family;
}

// Errors are taken to grow as the root of the time, so that neither the shortest nor the longest blocks decide alone.
void Scale::Sums::Add(const ScaledBlock& block, double sign) {
  const double time = std::max(*block.measured, kLeastSeconds);
  for (size_t i = 0; i < kTraits; ++i) {
    for (size_t j = 0; j < kTraits; ++j) products[i][j] += sign * block.traits[i] * block.traits[j] / time;
    values[i] += sign * block.traits[i];
  }
  count += sign > 0 ? 1 : size_t(-1);
}

// Least squares without negative weights, by coordinate descent (Franc, Hlavac, Navara 2005).
Traits Scale::Fit(const Sums& sums) {
  constexpr int kRounds = 500;
  Traits weights{};
  for (int round = 0; round < kRounds; ++round) {
    for (size_t i = 0; i < kTraits; ++i) {
      if (sums.products[i][i] <= 0) continue;
      double slope = sums.values[i];
      for (size_t j = 0; j < kTraits; ++j) slope -= sums.products[i][j] * weights[j];
      weights[i] = std::max(0.0, weights[i] + slope / sums.products[i][i]);
    }
  }
  return weights;
}

double Scale::Fitted(const Traits& weights, const ScaledBlock& block) {
  double seconds = 0;
  for (size_t i = 0; i < kTraits; ++i) seconds += weights[i] * block.traits[i];
  return std::max(seconds, kLeastSeconds);
}

Scale::Scale(const std::vector<ScaledBlock>& blocks) : blocks_(blocks) {
  for (const ScaledBlock& block : blocks) {
    if (!block.measured) continue;
    all_.Add(block, 1);
    families_[block.family].measured.push_back(&block);
  }
  weights_ = Fit(all_);
}

// Geometric mean over the family's other blocks; 1 where it has none.
double Scale::RatioOf(const ScaledBlock& block, const Traits& weights) const {
  const auto family = families_.find(block.family);
  if (family == families_.end()) return 1;
  double sum = 0;
  int count = 0;
  for (const ScaledBlock* other : family->second.measured) {
    if (other == &block) continue;
    sum += std::log(std::max(*other->measured, kLeastSeconds) / Fitted(weights, *other));
    ++count;
  }
  return count > 0 ? std::exp(sum / count) : 1;
}

double Scale::From(const Traits& weights, const ScaledBlock& block) const {
  return Fitted(weights, block) * RatioOf(block, weights);
}

double Scale::Seconds(const ScaledBlock& block) const {
  if (!block.measured) return all_.count > 0 ? From(weights_, block) : block.modelled();
  Sums others = all_;
  others.Add(block, -1);
  return others.count > 0 ? From(Fit(others), block) : block.modelled();
}

std::optional<double> Scale::LeaveOneOutError() const {
  double off = 0, sum = 0;
  int count = 0;
  for (const ScaledBlock& block : blocks_) {
    if (!block.measured) continue;
    off += block.uses * std::abs(Seconds(block) - *block.measured);
    sum += block.uses * *block.measured;
    ++count;
  }
  return count > 1 && sum > 0 ? std::optional(off / sum) : std::nullopt;
}

std::vector<size_t> ChooseSample(const std::vector<ScaledBlock>& blocks, size_t sample) {
  std::map<std::string_view, std::vector<size_t>> families;
  for (size_t i = 0; i < blocks.size(); ++i) families[blocks[i].family].push_back(i);
  const auto weight = [&](size_t i) { return blocks[i].modelled() * blocks[i].uses; };
  std::vector<size_t> chosen;
  for (auto& [name, members] : families) {
    std::stable_sort(members.begin(), members.end(), [&](size_t a, size_t b) { return weight(a) > weight(b); });
    const size_t count = sample == 0 ? members.size() : std::min(sample, members.size());
    // What weighs most first, then evenly down to the least.
    for (size_t k = 0; k < count; ++k)
      chosen.push_back(members[count == 1 ? 0 : k * (members.size() - 1) / (count - 1)]);
  }
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

}  // namespace hespas::estimate
