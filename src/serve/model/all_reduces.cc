#include "serve/model/all_reduces.h"

namespace hespas::serve {
namespace {

// Whether all ranks are joined by NVLink or XGMI; a bridge joins pairs only.
bool AllLinked(std::string_view links, int64_t ranks) {
  if (links.starts_with("NVLink")) return ranks == 2 || !links.ends_with("bridge");
  return links.starts_with("Infinity Fabric");
}

}  // namespace

// The kernels are of CUDA and ROCm: over other links than theirs and PCIe (Xe Link, Ethernet, ICI) there are none.
AllReduce AllReduces::KindOf(double bytes, int64_t ranks, std::string_view links) const {
  constexpr int64_t kMostRanks = 8;  // vLLM, custom_all_reduce.py; TensorRT-LLM, MAX_RANKS_PER_NODE; both: even ones
  const bool pair = ranks == 2;
  const bool reached = AllLinked(links, ranks) || (pair && pairs_on_pcie && links.starts_with("PCIe"));
  if (!own || !reached || ranks > kMostRanks || ranks % 2 != 0 || bytes > (pair ? largest_of_pair : largest))
    return AllReduce::kLibrary;
  const auto& limit = ranks <= 4 ? two_shot_of_four : two_shot;
  if (!limit) return AllReduce::kFastest;
  return pair || bytes < *limit ? AllReduce::kOneShot : AllReduce::kTwoShot;
}

}  // namespace hespas::serve
