#include "ir/facts/op_weights.h"

#include <algorithm>
#include <iterator>

namespace hespas::ir {
namespace {

constexpr std::optional<double> kUnset = std::nullopt;

// clang-format off
constexpr OpWeight kWeights[] = {
    //                              fusion  cores   special  sm80   sm90
    {OpKind::kAdd,                  kUnset, kUnset, 0,       3,     7},
    {OpKind::kSubtract,             kUnset, kUnset, 0,       3,     7},
    {OpKind::kDivide,               9,      5,      1,       3,     19},
    {OpKind::kRemainder,            12,     8,      1},
    {OpKind::kPower,                40,     32,     2,       1221,  510},
    {OpKind::kAtan2,                kUnset, 46,     1,       3,     431},
    {OpKind::kExponential,          10,     8,      1,       3,     79},
    {OpKind::kExponentialMinusOne,  14,     16,     1,       3,     190},
    {OpKind::kLog,                  14,     10,     1,       259,   166},
    {OpKind::kLogPlusOne,           16,     16,     1,       3,     229},
    {OpKind::kLogistic,             20,     12,     2},
    {OpKind::kTanh,                 25,     21,     1,       504,   467},
    {OpKind::kErf,                  25,     21,     1},
    {OpKind::kSine,                 3,      23,     2,       3,     958},
    {OpKind::kCosine,               3,      24,     2,       3,     978},
    {OpKind::kTan,                  60,     46,     1},
    {OpKind::kSqrt,                 22,     4,      1,       3,     75},
    {OpKind::kRsqrt,                6,      2,      1,       3,     75},
    {OpKind::kCbrt,                 kUnset, 17,     2,       3,     178},
    {OpKind::kReducePrecision,      5,      5},
    {OpKind::kConvert,              1.5,    1.5},
    {OpKind::kBitcastConvert,       kUnset, 0},
    {OpKind::kGather,               4,      4},
    {OpKind::kConcatenate,          2,      2},
    {OpKind::kPad,                  2,      2},
    {OpKind::kRng,                  kUnset, 20},
    {OpKind::kRngBitGenerator,      kUnset, 20},
    {OpKind::kBitcast,              0,      kUnset},
    {OpKind::kReshape,              0,      kUnset},
    {OpKind::kBroadcastInDim,       0,      kUnset},
    {OpKind::kBroadcast,            0,      kUnset},
    {OpKind::kSlice,                0,      kUnset},
    {OpKind::kTranspose,            0,      kUnset},
    {OpKind::kCopy,                 0,      kUnset},
    {OpKind::kConstant,             0,      kUnset},
};
// clang-format on

}  // namespace

const OpWeight* WeightOf(OpKind kind) {
  const auto* found = std::find_if(std::begin(kWeights), std::end(kWeights),
                                   [&](const OpWeight& weight) { return weight.kind == kind; });
  return found == std::end(kWeights) ? nullptr : found;
}

}  // namespace hespas::ir
