// Times of blocks that were not measured, from those that were: a fit to what is known of all, times the family's own
// ratio to it.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/block_graph.h"
#include "ir/module.h"

namespace hespas::estimate {

// What a block's time may be proportional to: seconds that the fallback says, its flops, its bytes, its operations.
using Traits = std::array<double, 4>;

struct ScaledBlock {
  std::string family;
  Traits traits{};
  double uses = 1;                      // how often it occurs
  std::optional<double> measured = {};  // seconds
  double modelled() const { return traits[0]; }
};

// Blocks of the same operations, however many, are one family, where their matmuls and convolutions are of like size:
// compilers choose other kernels for others.
std::string FamilyOf(const ir::Module& module, const graph::Block& block);

// What blocks take by their traits, and families by what their measured blocks take over that.
class Scale {
 public:
  explicit Scale(const std::vector<ScaledBlock>& blocks);

  // Seconds of a block from all others; the fallback's where none was measured.
  double Seconds(const ScaledBlock& block) const;

  // Sum of |scaled - measured| over that of measured, each block scaled from the others and as often as it occurs;
  // nothing with fewer than two.
  std::optional<double> LeaveOneOutError() const;

 private:
  // Normal equations of the fit; sums, so that one block is taken out again.
  struct Sums {
    std::array<Traits, std::tuple_size_v<Traits>> products{};
    Traits values{};
    size_t count = 0;
    void Add(const ScaledBlock& block, double sign);
  };
  struct Family {
    std::vector<const ScaledBlock*> measured;
  };

  static Traits Fit(const Sums& sums);
  static double Fitted(const Traits& weights, const ScaledBlock& block);
  double RatioOf(const ScaledBlock& block, const Traits& weights) const;
  double From(const Traits& weights, const ScaledBlock& block) const;

  const std::vector<ScaledBlock>& blocks_;
  std::map<std::string_view, Family> families_;
  Sums all_;
  Traits weights_{};
};

// Those to measure: of each family `sample` (0: all), spread evenly over what the fallback says; known ones count.
std::vector<size_t> ChooseSample(const std::vector<ScaledBlock>& blocks, size_t sample);

}  // namespace hespas::estimate
