#include "simulate/astra_sim/message_channels.h"

namespace hespas::simulate {

void MessageChannels::Begin(const Phase& phase) {
  PhaseChannels& channels = At(phase.rank, phase.tag);
  if (channels.tag == phase.tag) {
    Spill(channels);
    ++without_channels_[phase.rank];
  }
  if (phase.channels == 0 || channels.tag != 0 || without_channels_[phase.rank] > 0) {
    ++without_channels_[phase.rank];
    return;
  }
  channels.tag = phase.tag;
  channels.stream = phase.stream;
  channels.size = phase.size;
  channels.rank = phase.rank;
  channels.ring = phase.ring;
  channels.clockwise = phase.clockwise;
  channels.source = SourceOf(channels, 0);
  channels.balance = 0;
  channels.early = 0;
  channels.more.assign(phase.channels - 1, 0);
  if (matcher_.early(phase.rank) == 0) return;
  for (uint32_t k = 0; k < phase.channels; ++k) {
    const uint32_t count = matcher_.TakeEarly(KeyOf(channels, k));
    if (k == 0) {
      channels.balance = static_cast<int32_t>(count);
    } else {
      channels.more[k - 1] = static_cast<int16_t>(count);
    }
    channels.early += count;
  }
}

void MessageChannels::End(uint32_t rank, uint32_t tag, uint32_t stream) {
  PhaseChannels& channels = At(rank, tag);
  if (channels.tag != tag || channels.stream != stream) {
    --without_channels_[rank];
    return;
  }
  if (channels.early > 0) Spill(channels);
  channels.tag = 0;
}

// Closes the channels; the messages that they hold go on in the Matcher.
void MessageChannels::Spill(PhaseChannels& channels) {
  for (uint32_t k = 0; k <= channels.more.size(); ++k) {
    const MatchKey key = KeyOf(channels, k);
    Callback nobody;
    int32_t balance = BalanceOf(channels, k);
    for (; balance > 0; --balance) matcher_.Arrive(key, nobody);
    for (; balance < 0; ++balance) matcher_.Receive(key, {CallbackKind::kStream, channels.stream, 0});
  }
  channels.tag = 0;
}

}  // namespace hespas::simulate
