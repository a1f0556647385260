#include "simulate/astra_sim/lanes.h"

namespace hespas::simulate {

void Lanes::Begin(const Phase& phase) {
  Lane& lane = At(phase.rank, phase.tag);
  if (lane.tag == phase.tag) {
    Spill(lane);
    ++without_lane_[phase.rank];
  }
  if (phase.channels == 0 || lane.tag != 0 || without_lane_[phase.rank] > 0) {
    ++without_lane_[phase.rank];
    return;
  }
  lane.tag = phase.tag;
  lane.stream = phase.stream;
  lane.size = phase.size;
  lane.rank = phase.rank;
  lane.ring = phase.ring;
  lane.clockwise = phase.clockwise;
  lane.source = SourceOf(lane, 0);
  lane.balance = 0;
  lane.early = 0;
  lane.more.assign(phase.channels - 1, 0);
  if (matcher_.early(phase.rank) == 0) return;
  for (uint32_t k = 0; k < phase.channels; ++k) {
    const uint32_t count = matcher_.TakeEarly(KeyOf(lane, k));
    if (k == 0) {
      lane.balance = static_cast<int32_t>(count);
    } else {
      lane.more[k - 1] = static_cast<int16_t>(count);
    }
    lane.early += count;
  }
}

void Lanes::End(uint32_t rank, uint32_t tag, uint32_t stream) {
  Lane& lane = At(rank, tag);
  if (lane.tag != tag || lane.stream != stream) {
    --without_lane_[rank];
    return;
  }
  if (lane.early > 0) Spill(lane);
  lane.tag = 0;
}

// Closes the lane; what it holds goes on in the Matcher.
void Lanes::Spill(Lane& lane) {
  for (uint32_t k = 0; k <= lane.more.size(); ++k) {
    const MatchKey key = KeyOf(lane, k);
    Callback nobody;
    int32_t balance = BalanceOf(lane, k);
    for (; balance > 0; --balance) matcher_.Arrive(key, nobody);
    for (; balance < 0; ++balance) matcher_.Receive(key, {CallbackKind::kStream, lane.stream, 0});
  }
  lane.tag = 0;
}

}  // namespace hespas::simulate
