#include "estimate/profile/scaling.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "ir/walk.h"

namespace hespas::estimate {

std::string FamilyOf(const ir::Module& module, const graph::Block& block) {
  std::set<std::string_view> names;
  for (const ir::OpId op : block.ops) {
    names.insert(module.name(op));
    ir::WalkNested(module, op, [&](ir::OpId inner) { names.insert(module.name(inner)); });
  }
  std::string family;
  for (const std::string_view name : names) family.append(name).append(" ");
  return family;
}

Scale::Scale(const std::vector<ScaledBlock>& blocks) : blocks_(blocks) {
  for (const ScaledBlock& block : blocks) {
    if (!block.measured) continue;
    for (Sum* sum : {&all_, &families_[block.family]}) {
      sum->measured += *block.measured;
      sum->modelled += block.modelled;
    }
  }
}

Scale::Sum Scale::Without(Sum sum, const ScaledBlock& block) {
  if (!block.measured) return sum;
  return {.measured = sum.measured - *block.measured, .modelled = sum.modelled - block.modelled};
}

double Scale::Seconds(const ScaledBlock& block) const {
  const auto family = families_.find(block.family);
  const Sum own = family == families_.end() ? Sum() : Without(family->second, block);
  const Sum known = own.modelled > 0 ? own : Without(all_, block);
  return known.modelled > 0 ? block.modelled * known.measured / known.modelled : block.modelled;
}

std::optional<double> Scale::LeaveOneOutError() const {
  double off = 0;
  int count = 0;
  for (const ScaledBlock& block : blocks_) {
    if (!block.measured) continue;
    off += std::abs(Seconds(block) - *block.measured);
    ++count;
  }
  return count > 1 && all_.measured > 0 ? std::optional(off / all_.measured) : std::nullopt;
}

std::vector<size_t> ChooseSample(const std::vector<ScaledBlock>& blocks, size_t sample) {
  std::map<std::string_view, std::vector<size_t>> families;
  for (size_t i = 0; i < blocks.size(); ++i) families[blocks[i].family].push_back(i);
  std::vector<size_t> chosen;
  for (auto& [name, members] : families) {
    std::stable_sort(members.begin(), members.end(),
                     [&](size_t a, size_t b) { return blocks[a].modelled > blocks[b].modelled; });
    const size_t count = sample == 0 ? members.size() : std::min(sample, members.size());
    // The dearest first, then evenly down to the cheapest.
    for (size_t k = 0; k < count; ++k)
      chosen.push_back(members[count == 1 ? 0 : k * (members.size() - 1) / (count - 1)]);
  }
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

}  // namespace hespas::estimate
