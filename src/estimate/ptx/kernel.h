// PTX kernels as lists of decoded instructions.
//
// - Reads what compilers write (LLVM's NVPTX back end, nvcc): one `.entry` a kernel, registers, labels, guards.
// - An instruction that is not known by name is kept: it counts as `other`, and what it writes is unknown.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace hespas::estimate::ptx {

inline constexpr DiagnosticKind kBadPtx{
    "E0576", "The text is no PTX that can be read: it must hold at least one complete `.entry`."};

using Extent = std::array<int64_t, 3>;  // x, y, z
inline int64_t Volume(const Extent& extent) { return extent[0] * extent[1] * extent[2]; }

// What an instruction occupies.
enum class Unit : uint8_t { kTensor, kFloat, kDouble, kInteger, kSpecial, kShared, kGlobal, kLocal, kBarrier, kOther };

// What the interpreter makes of it.
enum class Action : uint8_t {
  kUnknown,
  kMove,
  kAdd,
  kSubtract,
  kMultiply,
  kMultiplyHigh,
  kMultiplyAdd,
  kDivide,
  kRemainder,
  kMinimum,
  kMaximum,
  kAnd,
  kOr,
  kXor,
  kNot,
  kNegate,
  kShiftLeft,
  kShiftRight,
  kConvert,
  kCompare,
  kSelect,
  kLoadParameter,
  kMemory,
  kBranch,
  kExit,
};

enum class Comparison : uint8_t { kEqual, kNotEqual, kLess, kLessEqual, kGreater, kGreaterEqual };

struct Operand {
  enum class Kind : uint8_t { kImmediate, kRegister, kSpecial, kParameter, kUnknown };
  Kind kind = Kind::kUnknown;
  int32_t index =
      -1;             // of the register or parameter; of kSpecial: 0-2 tid, 3-5 ntid, 6-8 ctaid, 9-11 nctaid, 12 laneid
  int64_t value = 0;  // immediate, or offset in an address
  bool is_address = false;
};

struct Instruction {
  Action action = Action::kUnknown;
  Unit unit = Unit::kOther;
  Comparison comparison = Comparison::kEqual;
  bool is_signed = false;
  bool wide = false;  // a product twice as wide as its operands
  bool is_store = false;
  bool is_load = false;
  uint8_t bits = 32;         // of the type; of a conversion: of the result
  uint8_t source_bits = 32;  // of a conversion
  int32_t guard = -1;        // predicate register
  bool guard_negated = false;
  int32_t target = -1;          // of a branch
  int32_t bytes = 0;            // a thread moves
  bool to_shared = false;       // an asynchronous copy that also writes shared memory
  double tensor_flops = 0;      // a warp does
  uint8_t element_bits = 16;    // of the tensor operands
  std::vector<int32_t> writes;  // registers
  std::vector<Operand> reads;   // the address last, where there is one
};

// Where the shared memory begins whose size is given at the launch.
inline constexpr int64_t kDynamicShared = int64_t{1} << 30;

struct Kernel {
  std::string name;
  std::optional<Extent> block;  // .maxntid or .reqntid
  std::vector<Instruction> instructions;
  std::vector<uint8_t> register_bits;  // 0 for predicates
  std::vector<uint8_t> parameter_bits;
  int64_t shared_bytes = 0;  // of arrays whose size the text tells
};

Result<std::vector<Kernel>> ReadPtx(std::string_view text, const std::string& file);

}  // namespace hespas::estimate::ptx
