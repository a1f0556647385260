// Verification of every op of a module: operand and result types, shapes, attributes and regions.
//
// - The rules are those of the StableHLO specification; mhlo ops of the same meaning follow them more loosely,
//   ops of unknown dialects are not looked at.
// - Modules from HLO text follow XLA's rules where those are wider (verify/hlo.cc).
// - Defects are reported at the op's own line with codes E04xx, in program order, one for each op.
// - Costs a look into small tables per elementwise op; constants' payloads are never read.
#pragma once

#include "base/diagnostic.h"
#include "ir/module.h"

namespace hespas::ir {

enum class Origin : uint8_t { kMlir, kHlo };

void Verify(const Module& module, Origin origin, Diagnostics& diagnostics);

}  // namespace hespas::ir
