// HLO opcodes: how each is spelt in the IR and what kind of lowering it takes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace hespas::read::hlo {

// clang-format off
enum class Lowering : uint8_t {
  kPlain,            // operands, attributes, results; to_apply and the like become regions
  kParameter, kConstant, kTuple, kGetTupleElement,
  kFusion, kCall, kWhile, kConditional,
  kAsyncStart,       // async-start with a computation of its own
  kSugaredStart,     // OP-start: the op alone in a computation made here
  kAsyncUpdate, kAsyncDone,
};
// clang-format on

struct Opcode {
  std::string_view hlo;   // "all-reduce", without -start, -update or -done
  std::string_view name;  // "stablehlo.all_reduce"
  Lowering lowering = Lowering::kPlain;
};

// The row of `opcode`; an async half of a known opcode gives that opcode's row with another lowering. A name that is in
// no table gives an empty `name`.
Opcode FindOpcode(std::string_view opcode);

// The nearest known opcode, for messages; may be empty.
std::string NearestOpcode(std::string_view opcode);

}  // namespace hespas::read::hlo
