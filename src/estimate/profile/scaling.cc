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
  struct Sum {
    double measured = 0, modelled = 0;
  };
  Sum own, all;
  for (size_t i = 0; i < blocks.size(); ++i) {
    const ScaledBlock& block = blocks[i];
    if (i == at || !block.measured) continue;
    all.measured += *block.measured;
    all.modelled += block.modelled;
    if (block.family != blocks[at].family) continue;
    own.measured += *block.measured;
    own.modelled += block.modelled;
  }
  const Sum& known = own.modelled > 0 ? own : all;
  return known.modelled > 0 ? blocks[at].modelled * known.measured / known.modelled : blocks[at].modelled;
}

std::optional<double> LeaveOneOutError(const std::vector<ScaledBlock>& blocks) {
  double off = 0, total = 0;
  int count = 0;
  for (size_t i = 0; i < blocks.size(); ++i) {
    if (!blocks[i].measured) continue;
    off += std::abs(ScaledSeconds(blocks, i) - *blocks[i].measured);
    total += *blocks[i].measured;
    ++count;
  }
  return count > 1 && total > 0 ? std::optional(off / total) : std::nullopt;
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
