#include "serve/model/all_reduces.h"

namespace hespas::serve {

AllReduce AllReduces::KindOf(double bytes, int64_t ranks, bool linked) const {
  constexpr int64_t kMostRanks = 8;  // vLLM, custom_all_reduce.py; TensorRT-LLM, MAX_RANKS_PER_NODE; both: even ones
  const bool pair = ranks == 2;
  const bool reached = linked || (pair && pairs_on_pcie);
  if (!own || !reached || ranks > kMostRanks || ranks % 2 != 0 || bytes > (pair ? largest_of_pair : largest))
    return AllReduce::kLibrary;
  const auto& limit = ranks <= 4 ? two_shot_of_four : two_shot;
  if (!limit) return AllReduce::kFastest;
  return pair || bytes < *limit ? AllReduce::kOneShot : AllReduce::kTwoShot;
}

}  // namespace hespas::serve
