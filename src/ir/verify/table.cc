#include "ir/verify/table.h"

#include <array>

namespace hespas::ir::verify {
namespace {

constexpr ClassMask kFloatLike = kFloat | kComplex | kQuantised;
constexpr ClassMask kRounded = kFloat | kQuantised;
constexpr ClassMask kSignedLike = kSigned | kFloatLike;
constexpr ClassMask kNumber = kInteger | kFloatLike;
constexpr ClassMask kLogical = kBool | kInteger;
constexpr ClassMask kShapeList = kInteger | kIndex;
constexpr ClassMask kValue = kTensorOrAxis | kToken | kTuple | kBuffer | kFuture;
constexpr uint8_t kSame = kSameShape | kSameElement;

constexpr OpRule Unary(OpKind kind, ClassMask classes, uint8_t traits = kSame) {
  return {kind, kOne, kOne, kNone, {classes, classes, classes}, classes, traits, nullptr};
}
constexpr OpRule Accurate(OpKind kind) {
  return {kind, kOne, kOne, kNone, {kFloatLike, kFloatLike, kFloatLike}, kFloatLike, kSame, CheckResultAccuracy};
}
constexpr OpRule Binary(OpKind kind, ClassMask classes) {
  return {kind, kTwo, kOne, kNone, {classes, classes, classes}, classes, kSame, nullptr};
}
// Operands of one class each; the last class stands for all further operands.
struct Classes {
  ClassMask first = kAnything;
  ClassMask second = kAnything;
  ClassMask rest = kAnything;
  ClassMask result = kAnything;
};
constexpr OpRule Row(OpKind kind, Count operands, Count results, Classes classes, Rule rule, uint8_t traits = kNoTrait,
                     Count regions = kNone) {
  return {kind,           operands, results, regions, {classes.first, classes.second, classes.rest},
          classes.result, traits,   rule};
}
constexpr Classes All(ClassMask mask) { return {mask, mask, mask, mask}; }

// clang-format off
constexpr OpRule kRules[] = {
    // elementwise
    Row(OpKind::kAbs, kOne, kOne, {kSignedLike, 0, 0, kSigned | kRounded}, CheckAbs, kSameShape),
    Accurate(OpKind::kCbrt), Accurate(OpKind::kCosine), Accurate(OpKind::kExponential),
    Accurate(OpKind::kExponentialMinusOne), Accurate(OpKind::kLog), Accurate(OpKind::kLogPlusOne),
    Accurate(OpKind::kLogistic), Accurate(OpKind::kRsqrt), Accurate(OpKind::kSine), Accurate(OpKind::kSqrt),
    Accurate(OpKind::kTan), Accurate(OpKind::kTanh),
    Unary(OpKind::kCeil, kRounded), Unary(OpKind::kFloor, kRounded), Unary(OpKind::kRoundNearestAfz, kRounded),
    Unary(OpKind::kRoundNearestEven, kRounded), Unary(OpKind::kCountLeadingZeros, kInteger),
    Unary(OpKind::kPopcnt, kInteger), Unary(OpKind::kNot, kLogical), Unary(OpKind::kNegate, kNumber),
    Unary(OpKind::kSign, kSignedLike), Unary(OpKind::kConvert, kTensor, kSameShape),
    Row(OpKind::kReal, kOne, kOne, {kFloat | kComplex, 0, 0, kFloat}, CheckRealPart, kSameShape),
    Row(OpKind::kImag, kOne, kOne, {kFloat | kComplex, 0, 0, kFloat}, CheckRealPart, kSameShape),
    Row(OpKind::kIsFinite, kOne, kOne, {kRounded, 0, 0, kBool}, nullptr, kSameShape),
    Row(OpKind::kReducePrecision, kOne, kOne, All(kRounded), CheckReducePrecision, kSame),
    Row(OpKind::kUniformQuantize, kOne, kOne, {kFloat | kQuantised | kQuantisedAxis, 0, 0, kQuantised | kQuantisedAxis},
        CheckQuantise, kSameShape),
    Row(OpKind::kUniformDequantize, kOne, kOne, {kQuantised | kQuantisedAxis, 0, 0, kFloat}, CheckQuantise, kSameShape),
    Row(OpKind::kAdd, kTwo, kOne, All(kTensorOrAxis), CheckAdd, kSame),
    Binary(OpKind::kAtan2, kFloatLike), Binary(OpKind::kDivide, kNumber), Binary(OpKind::kMaximum, kTensor),
    Binary(OpKind::kMinimum, kTensor), Binary(OpKind::kMultiply, kTensor), Binary(OpKind::kPower, kNumber),
    Binary(OpKind::kRemainder, kNumber), Binary(OpKind::kSubtract, kNumber), Binary(OpKind::kShiftLeft, kInteger),
    Binary(OpKind::kShiftRightArithmetic, kInteger), Binary(OpKind::kShiftRightLogical, kInteger),
    Binary(OpKind::kAnd, kLogical), Binary(OpKind::kOr, kLogical), Binary(OpKind::kXor, kLogical),
    Row(OpKind::kComplex, kTwo, kOne, {kFloat, kFloat, kFloat, kComplex}, CheckComplex, kSameShape | kSameOperandElement),
    Row(OpKind::kCompare, kTwo, kOne, {kTensor, kTensor, kTensor, kBool}, CheckCompare, kSameShape | kSameOperandElement),
    Row(OpKind::kSelect, kThree, kOne, {kBool, kTensor, kTensor, kTensor}, CheckSelect),
    Row(OpKind::kClamp, kThree, kOne, All(kTensor), CheckClamp, kSameElement),
    Row(OpKind::kBitcastConvert, kOne, kOne, All(kTensorOrAxis), CheckBitcastConvert),
    // constants and layout
    Row(OpKind::kConstant, kNone, kOne, {0, 0, 0, kTensorOrAxis}, CheckConstant, kAlways),
    Row(OpKind::kIota, kNone, kOne, {0, 0, 0, kNumber}, CheckIota),
    Row(OpKind::kDynamicIota, kOne, kOne, {kShapeList, 0, 0, kNumber}, CheckDynamicIota, kAlways),
    Row(OpKind::kBroadcast, kOne, kOne, All(kTensor), CheckBroadcast, kSameElement),
    Row(OpKind::kBroadcastInDim, kOne, kOne, All(kTensorOrAxis), CheckBroadcastInDim, kSameElement),
    Row(OpKind::kDynamicBroadcastInDim, kTwo, kOne, {kTensorOrAxis, kShapeList, 0, kTensorOrAxis},
        CheckDynamicBroadcastInDim, kSameElementAsFirst | kShapeSecond | kAlways),
    Row(OpKind::kReshape, kOne, kOne, All(kTensorOrAxis), CheckReshape, kSameElement),
    Row(OpKind::kDynamicReshape, kTwo, kOne, {kTensorOrAxis, kShapeList, 0, kTensorOrAxis}, CheckDynamicReshape,
        kSameElementAsFirst | kShapeSecond | kAlways),
    Row(OpKind::kTranspose, kOne, kOne, All(kTensorOrAxis), CheckTranspose, kSameElement),
    Row(OpKind::kReverse, kOne, kOne, All(kTensor), CheckReverse, kSame),
    Row(OpKind::kConcatenate, kSome, kOne, All(kTensor), CheckConcatenate, kSameElement),
    Row(OpKind::kPad, kTwo, kOne, All(kTensor), CheckPad, kSameElement),
    Row(OpKind::kDynamicPad, {5, 5}, kOne, {kTensor, kTensor, kShapeList, kTensor}, CheckDynamicPad,
        kSameElementAsFirst | kAlways),
    Row(OpKind::kGetDimensionSize, kOne, kOne, {kTensorOrAxis, 0, 0, kInteger}, CheckGetDimensionSize),
    Row(OpKind::kSetDimensionSize, kTwo, kOne, {kTensor, kInteger, 0, kTensor}, CheckSetDimensionSize,
        kSameElementAsFirst),
    // slices, gathers
    Row(OpKind::kSlice, kOne, kOne, All(kTensor), CheckSlice, kSameElement),
    Row(OpKind::kDynamicSlice, kSome, kOne, {kTensor, kShapeList, kShapeList, kTensor}, CheckDynamicSlice,
        kSameElementAsFirst),
    Row(OpKind::kDynamicUpdateSlice, {2, kMany}, kOne, {kTensor, kTensor, kShapeList, kTensor}, CheckDynamicUpdateSlice),
    Row(OpKind::kRealDynamicSlice, {4, 4}, kOne, {kTensor, kShapeList, kShapeList, kTensor}, CheckRealDynamicSlice,
        kSameElementAsFirst),
    Row(OpKind::kGather, kTwo, kOne, {kTensor, kShapeList, 0, kTensor}, CheckGather, kSameElementAsFirst),
    Row(OpKind::kDynamicGather, kThree, kOne, {kTensor, kShapeList, kShapeList, kTensor}, CheckDynamicGather,
        kSameElementAsFirst | kAlways),
    Row(OpKind::kScatter, kSome, kSome, {kTensor | kShapeList, kTensor | kShapeList, kTensor | kShapeList, kTensor},
        CheckScatter, kNoTrait, kOne),
    // contractions
    Row(OpKind::kDot, kTwo, kOne, {kTensor, kTensorOrAxis, 0, kTensorOrAxis}, CheckDot),
    Row(OpKind::kDotGeneral, kTwo, kOne, {kTensor, kTensorOrAxis, 0, kTensorOrAxis}, CheckDotGeneral),
    Row(OpKind::kConvolution, kTwo, kOne, {kTensor, kTensorOrAxis, 0, kTensorOrAxis}, CheckConvolution),
    Row(OpKind::kDynamicConv, kThree, kOne, {kTensor, kTensorOrAxis, kShapeList, kTensorOrAxis}, CheckDynamicConvolution),
    // reductions and other ops with a computation
    Row(OpKind::kReduce, kSome, kSome, All(kTensor), CheckReduce, kNoTrait, kOne),
    Row(OpKind::kReduceWindow, kSome, kSome, All(kTensor), CheckReduceWindow, kNoTrait, kOne),
    Row(OpKind::kSelectAndScatter, kThree, kOne, All(kTensor), CheckSelectAndScatter, kNoTrait, kTwo),
    Row(OpKind::kMap, kSome, kOne, All(kTensor), CheckMap, kSameShape, kOne),
    Row(OpKind::kSort, kSome, kSome, All(kTensor), CheckSort, kNoTrait, kOne),
    // collectives
    Row(OpKind::kAllGather, kSome, kSome, All(kTensor), CheckAllGather),
    Row(OpKind::kAllReduce, kSome, kSome, All(kTensor), CheckAllReduce, kNoTrait, kOne),
    Row(OpKind::kAllToAll, kSome, kSome, All(kTensor), CheckAllToAll),
    Row(OpKind::kReduceScatter, kSome, kSome, All(kTensor), CheckReduceScatter, kNoTrait, kOne),
    Row(OpKind::kCollectiveReduce, kSome, kSome, All(kTensor), CheckCollectiveReduce, kNoTrait, kOne),
    Row(OpKind::kCollectivePermute, kOne, kOne, All(kTensor), CheckCollectivePermute),
    Row(OpKind::kCollectiveBroadcast, kSome, kSome, All(kTensor), CheckCollectiveBroadcast),
    Row(OpKind::kAsyncStart, kAny, kOne, All(kAnything), CheckAsyncStart, kAlways, kAny),
    Row(OpKind::kAsyncDone, kOne, kAny, All(kAnything), CheckAsyncDone),
    // control flow and tuples
    Row(OpKind::kIf, kOne, kAny, {kBool, 0, 0, kTensorOrAxis | kToken}, CheckIf, kNoTrait, kTwo),
    Row(OpKind::kCase, kOne, kAny, {kSigned, 0, 0, kTensorOrAxis | kToken}, CheckCase, kNoTrait, kAny),
    Row(OpKind::kWhile, kAny, kAny, All(kValue), CheckWhile, kNoTrait, kTwo),
    Row(OpKind::kOptimizationBarrier, kAny, kAny, All(kTensor | kToken), CheckOptimizationBarrier),
    Row(OpKind::kTuple, kAny, kOne, All(kAnything), CheckTuple),
    Row(OpKind::kGetTupleElement, kOne, kOne, {kTuple, 0, 0, kAnything}, CheckGetTupleElement),
    Row(OpKind::kAfterAll, kAny, kOne, All(kToken), nullptr),
    Row(OpKind::kCreateToken, kNone, kOne, {0, 0, 0, kToken}, nullptr),
    Row(OpKind::kReplicaId, kNone, kOne, {0, 0, 0, kUnsigned}, CheckScalarResult),
    Row(OpKind::kPartitionId, kNone, kOne, {0, 0, 0, kUnsigned}, CheckScalarResult),
    // functions and calls
    Row(OpKind::kFunc, kNone, kNone, All(kAnything), CheckFunction, kAlways, kAny),
    Row(OpKind::kReturn, kAny, kNone, All(kAnything), CheckReturn, kAlways),
    Row(OpKind::kFuncCall, kAny, kAny, All(kAnything), CheckCall, kAlways),
    Row(OpKind::kComposite, kAny, kAny, All(kAnything), CheckComposite, kAlways, kAny),
    Row(OpKind::kCustomCall, kAny, kAny, All(kAnything), CheckCustomCall, kNoTrait, kAny),
    // numerics
    Row(OpKind::kFft, kOne, kOne, {kFloat | kComplex, 0, 0, kFloat | kComplex}, CheckFft),
    Row(OpKind::kCholesky, kOne, kOne, All(kFloatLike), CheckCholesky),
    Row(OpKind::kTriangularSolve, kTwo, kOne, All(kFloat | kComplex), CheckTriangularSolve, kSameElement),
    Row(OpKind::kBatchNormTraining, kThree, kThree, All(kRounded), CheckBatchNormTraining, kSameElement),
    Row(OpKind::kBatchNormInference, {5, 5}, kOne, All(kRounded), CheckBatchNormInference, kSameElement),
    Row(OpKind::kBatchNormGrad, {5, 5}, kThree, All(kRounded), CheckBatchNormGrad, kSameElement),
    Row(OpKind::kRng, kThree, kOne, {kLogical | kFloat, kLogical | kFloat, kShapeList, kLogical | kFloat}, CheckRng,
        kAlways),
    Row(OpKind::kRngBitGenerator, kOne, kTwo, {kInteger | kFloat, 0, 0, kInteger | kFloat}, CheckRngBitGenerator),
    // transfers
    Row(OpKind::kInfeed, kOne, kAny, {kToken, 0, 0, kAnything}, CheckInfeed),
    Row(OpKind::kOutfeed, kSome, kOne, {kAnything, kAnything, kAnything, kToken}, CheckOutfeed),
    Row(OpKind::kSend, kSome, kOne, {kAnything, kAnything, kAnything, kToken | kFuture}, CheckSend),
    Row(OpKind::kRecv, kOne, kAny, {kToken, 0, 0, kAnything}, CheckRecv),
};
// clang-format on

struct ChloRow {
  std::string_view name;
  OpRule rule;
};
constexpr OpRule kChloUnary = Row(OpKind::kUnknown, kOne, kOne, {}, nullptr, kSame);
constexpr OpRule kChloBinary = Row(OpKind::kUnknown, kTwo, kOne, {}, nullptr, kSame);
constexpr OpRule kChloTest = Row(OpKind::kUnknown, kOne, kOne, {kFloat, 0, 0, kBool}, nullptr, kSameShape);
constexpr ChloRow kChlo[] = {
    {"chlo.acos", kChloUnary},
    {"chlo.acosh", kChloUnary},
    {"chlo.asin", kChloUnary},
    {"chlo.asinh", kChloUnary},
    {"chlo.atan", kChloUnary},
    {"chlo.atanh", kChloUnary},
    {"chlo.bessel_i1e", kChloUnary},
    {"chlo.broadcast_compare", Row(OpKind::kUnknown, kTwo, kOne, {}, CheckChloBroadcast)},
    {"chlo.broadcast_complex", Row(OpKind::kUnknown, kTwo, kOne, {}, CheckChloBroadcastComplex)},
    {"chlo.broadcast_select", Row(OpKind::kUnknown, kThree, kOne, {}, CheckChloBroadcast)},
    {"chlo.conj", kChloUnary},
    {"chlo.constant", Row(OpKind::kUnknown, kNone, kOne, {}, CheckConstant)},
    {"chlo.constant_like", Row(OpKind::kUnknown, kOne, kOne, {}, CheckChloConstantLike, kSameShape)},
    {"chlo.cosh", kChloUnary},
    {"chlo.digamma", kChloUnary},
    {"chlo.erf", kChloUnary},
    {"chlo.erf_inv", kChloUnary},
    {"chlo.erfc", kChloUnary},
    {"chlo.is_inf", kChloTest},
    {"chlo.is_neg_inf", kChloTest},
    {"chlo.is_pos_inf", kChloTest},
    {"chlo.lgamma", kChloUnary},
    {"chlo.mulhi", Row(OpKind::kUnknown, kTwo, kOne, All(kInteger), nullptr, kSame)},
    {"chlo.next_after", kChloBinary},
    {"chlo.polygamma", kChloBinary},
    {"chlo.ragged_dot", Row(OpKind::kUnknown, kThree, kOne, {}, CheckChloRaggedDot)},
    {"chlo.scan", Row(OpKind::kUnknown, kAny, kAny, {}, CheckChloScan, kNoTrait, kOne)},
    {"chlo.sinh", kChloUnary},
    {"chlo.square", kChloUnary},
    {"chlo.tan", kChloUnary},
    {"chlo.top_k", Row(OpKind::kUnknown, kOne, kTwo, {}, CheckChloTopK)},
    {"chlo.zeta", kChloBinary},
};
// All other broadcasting binary ops of chlo.
constexpr OpRule kChloBroadcast = Row(OpKind::kUnknown, kTwo, kOne, {}, CheckChloBroadcast, kSameElement);

constexpr size_t kKinds = static_cast<size_t>(OpKind::kUnknown) + 1;
constexpr std::array<const OpRule*, kKinds> kByKind = [] {
  std::array<const OpRule*, kKinds> rows{};
  for (const OpRule& rule : kRules) rows[static_cast<size_t>(rule.kind)] = &rule;
  return rows;
}();

}  // namespace

const OpRule* FindRule(std::string_view name, OpKind kind) {
  if (name.starts_with("chlo.")) {
    for (const ChloRow& row : kChlo) {
      if (row.name == name) return &row.rule;
    }
    return name.starts_with("chlo.broadcast_") ? &kChloBroadcast : nullptr;
  }
  if (!name.starts_with("stablehlo.") && !name.starts_with("mhlo.") && !name.starts_with("func.")) return nullptr;
  return kByKind[static_cast<size_t>(kind)];
}

}  // namespace hespas::ir::verify
