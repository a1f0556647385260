// The table of verified ops: counts, admissible types and the rule of each.
#pragma once

#include <span>

#include "ir/verify/rules.h"

namespace hespas::ir::verify {

struct Count {
  uint8_t least;
  uint8_t most;
};
inline constexpr uint8_t kMany = 255;
inline constexpr Count kNone{0, 0}, kOne{1, 1}, kTwo{2, 2}, kThree{3, 3}, kAny{0, kMany}, kSome{1, kMany};

enum Trait : uint8_t {
  kNoTrait = 0,
  kSameShape = 1,           // of all operands and results
  kSameElement = 2,         // of all operands and results, up to quantisation
  kSameOperandElement = 4,  // of all operands
  kSameElementAsFirst = 8,  // of the first operand and the first result
  kShapeSecond = 16,        // the second operand is a list of known length
  kAlways = 32,             // checked each time: the rule looks at other ops, or costs next to nothing
};

struct OpRule {
  OpKind kind = OpKind::kUnknown;
  Count operands;
  Count results;
  Count regions;
  ClassMask operand_classes[3] = {kAnything, kAnything, kAnything};  // the third stands for all further ones
  ClassMask result_classes = kAnything;
  uint8_t traits = kNoTrait;
  Rule rule = nullptr;
};

// The row of an op, or nullptr where nothing is known about it.
const OpRule* FindRule(std::string_view name, OpKind kind);
// The row of an op of HLO text that differs from the above, or nullptr (hlo.cc).
const OpRule* FindHloRule(std::string_view name);

}  // namespace hespas::ir::verify
