// Which ops end a block of the linear split, and how.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "ir/module.h"

namespace hespas::split {

enum class Separator : uint8_t { kCommunication, kConvolution, kDotGeneral, kReduce, kReturn };

// What happens to the separating op: a block of its own, last of its block, first of its block.
enum class SeparatorPolicy : uint8_t { kIsolated, kEndBlock, kStartBlock };

// "is_communication_op", "is_convolution_op", ... (the prototype's configuration keys), with or without "is_" and
// "_op".
std::optional<Separator> SeparatorByName(std::string_view name);

// "ISOLATED", "END_BLOCK", "START_BLOCK", in any case.
std::optional<SeparatorPolicy> PolicyByName(std::string_view name);

// Collectives, point-to-point transfers, and asynchronous starts of collectives.
bool IsCommunication(const ir::Module& module, ir::OpId op);

// The collective that a communication op performs: itself, or the one in the computation that an asynchronous start
// calls; invalid for anything else.
ir::OpId CollectiveOf(const ir::Module& module, ir::OpId op);

bool Separates(Separator separator, const ir::Module& module, ir::OpId op);

}  // namespace hespas::split
