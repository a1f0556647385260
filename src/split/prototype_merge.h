// The Python prototype's merge of blocks: ordered adjacency, repeated passes (spec python-prototype section 5.3).
#pragma once

#include <vector>

#include "split/prototype.h"

namespace hespas::split {

std::vector<PrototypeBlock> MergeAsPrototype(std::vector<PrototypeBlock> blocks);

}  // namespace hespas::split
