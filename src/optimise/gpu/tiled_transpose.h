// The transpose that decides how a GPU kernel walks memory (XLA: FindNonTrivialHero, the tiled transpose emitter).
#pragma once

#include <functional>
#include <optional>
#include <unordered_map>

#include "optimise/dataflow/build.h"
#include "optimise/dataflow/dataflow.h"
#include "optimise/fusion/tiled_transpose.h"

namespace hespas::optimise {

// Nothing where tiles do not help: the inner dimension stays, or one of those exchanged is short.
std::optional<TiledTranspose> TiledTransposeOf(const Dataflow& flow, const Node& transpose);

// XLA's TransposesMinorDimension, but for what repeats anyway: broadcasts, and elementwise ops of one operand on them.
// Unless an emitter walks it in tiles, a kernel that holds such a transpose reads single elements.
bool ReadsAcross(const Dataflow& flow, const Node& node);

// Those of a program; each is looked at once.
class TiledTransposes {
 public:
  explicit TiledTransposes(const Dataflow& flow) : flow_(flow) {}

  using IsInside = std::function<bool(ValueId)>;

  // The only one above elementwise ops and bitcasts of `root`, as far as `is_inside` goes; null for none or several.
  const TiledTranspose* Hero(NodeId root, const IsInside& is_inside);

  // The same where the kernel of `root` takes in that of `value`. Each has its own copy of an op that is in both.
  const TiledTranspose* HeroOfBoth(NodeId root, const IsInside& in_consumer, NodeId value, const IsInside& in_producer);

 private:
  struct Found {
    const TiledTranspose* hero = nullptr;
    bool has_several = false;
    bool meets_end = false;
  };
  // Goes no further than `end`.
  Found Find(NodeId root, const IsInside& is_inside, NodeId end);
  const TiledTranspose* Of(NodeId transpose);

  const Dataflow& flow_;
  std::unordered_map<NodeId, std::optional<TiledTranspose>> known_;
};

}  // namespace hespas::optimise
