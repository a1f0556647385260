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

double ScaledSeconds(const std::vector<ScaledBlock>& blocks, size_t at) {
  double own = 0, all = 0;  // sums of logarithms
  int own_count = 0, all_count = 0;
  for (size_t i = 0; i < blocks.size(); ++i) {
    const ScaledBlock& block = blocks[i];
    if (i == at || block.measured.value_or(0) <= 0 || block.modelled <= 0) continue;
    const double ratio = std::log(*block.measured / block.modelled);
    all += ratio;
    ++all_count;
    if (block.family != blocks[at].family) continue;
    own += ratio;
    ++own_count;
  }
  if (own_count > 0) return blocks[at].modelled * std::exp(own / own_count);
  return all_count > 0 ? blocks[at].modelled * std::exp(all / all_count) : blocks[at].modelled;
}

std::optional<double> LeaveOneOutError(const std::vector<ScaledBlock>& blocks) {
  double sum = 0;
  int count = 0;
  for (size_t i = 0; i < blocks.size(); ++i) {
    if (blocks[i].measured.value_or(0) <= 0) continue;
    sum += std::abs(ScaledSeconds(blocks, i) / *blocks[i].measured - 1);
    ++count;
  }
  return count > 1 ? std::optional(sum / count) : std::nullopt;
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
