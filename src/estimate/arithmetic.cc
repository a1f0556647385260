#include "estimate/arithmetic.h"

#include <algorithm>

#include "estimate/cost.h"
#include "ir/facts/fusion.h"

namespace hespas::estimate {
namespace {

using calibrated::Datatype;
using calibrated::Machine;
using ir::AlgorithmType;
using ir::OperandPrecision;

Datatype IntegerOf(uint16_t bits) {
  if (bits == 1) return Datatype::kI1;
  if (bits <= 8) return Datatype::kI8;  // XLA multiplies integers below 8 bits as 8-bit ones
  if (bits <= 16) return Datatype::kI16;
  return bits <= 32 ? Datatype::kI32 : Datatype::kI64;
}

std::optional<Datatype> DatatypeOf(const ir::Element* element) {
  using ir::ElementKind;
  if (element == nullptr) return std::nullopt;
  switch (element->kind) {
    case ElementKind::kInteger:
    case ElementKind::kSigned:
    case ElementKind::kUnsigned:
      return IntegerOf(element->bits);
    case ElementKind::kF64:
      return Datatype::kF64;
    case ElementKind::kF32:
      return Datatype::kF32;
    case ElementKind::kTF32:
      return Datatype::kTf32;
    case ElementKind::kF16:
      return Datatype::kF16;
    case ElementKind::kBF16:
      return Datatype::kBf16;
    case ElementKind::kF4E2M1FN:
      return Datatype::kF4;
    case ElementKind::kNone:
    case ElementKind::kF80:
    case ElementKind::kF128:
    case ElementKind::kIndex:
    case ElementKind::kQuantised:
    case ElementKind::kOpaque:
      return std::nullopt;
    default:  // 8 and 6 bits share a rate
      return Datatype::kF8;
  }
}

void Append(const ir::Module& module, ir::OpId op, std::vector<Arithmetic>& out) {
  const OpCost cost = CostOf(module, op);
  if (cost.flops <= 0) return;
  Arithmetic made{.flops = static_cast<double>(cost.flops), .contraction = cost.contraction};
  made.type = DatatypeOf(RateElement(module, op, cost.contraction));
  if (cost.contraction) {
    made.precision = ir::MatmulPrecisionOf(module, op);
    if (cost.full_precision) made.precision.operands = OperandPrecision::kHighest;
    if (cost.block_scaled) made.dequantised = DatatypeOf(&module.type(module.result(op)).element);
  }
  for (Arithmetic& known : out) {
    if (known.contraction != made.contraction || known.type != made.type || known.precision != made.precision ||
        known.dequantised != made.dequantised)
      continue;
    known.flops += made.flops;
    return;
  }
  out.push_back(made);
}

Datatype TypeOf(AlgorithmType type) {
  switch (type) {
    case AlgorithmType::kF64:
      return Datatype::kF64;
    case AlgorithmType::kTf32:
      return Datatype::kTf32;
    case AlgorithmType::kBf16:
      return Datatype::kBf16;
    case AlgorithmType::kF16:
      return Datatype::kF16;
    case AlgorithmType::kF8:
      return Datatype::kF8;
    default:
      return Datatype::kF32;
  }
}

double Rate(const Machine& machine, Datatype type) { return machine.matrix_rate[static_cast<size_t>(type)]; }
bool Knows(const Machine& machine, Datatype type) { return machine.named[static_cast<size_t>(type)]; }

// f32 on a TPU's bf16 units: the operands are split in two or three bf16 values, and the products that matter summed.
double PassesOnTpu(OperandPrecision precision) {
  switch (precision) {
    case OperandPrecision::kHigh:
      return 3;
    case OperandPrecision::kHighest:
      return 6;
    default:
      return 1;
  }
}

// Device files give a TPU's f32 matmuls, in one bf16 pass, as "tf32".
MatrixType F32On(const Machine& machine, OperandPrecision precision) {
  const bool faster = Rate(machine, Datatype::kTf32) > Rate(machine, Datatype::kF32);
  if (machine.tpu && faster) return {Datatype::kTf32, PassesOnTpu(precision)};
  // XLA gpu_blas_lt.cc, GetBlasComputationType: on CUDA, TF32 up to HIGH; ROCm has none.
  if (faster && machine.tf32_dots && precision != OperandPrecision::kHighest) return {Datatype::kTf32, 1};
  return {Datatype::kF32, 1};
}

// Without f64, a value is a pair of f32 (XLA's X64 rewriter), and a matmul three of f32 at full precision.
MatrixType F64On(const Machine& machine) {
  if (Knows(machine, Datatype::kF64) || !Knows(machine, Datatype::kF32)) return {Datatype::kF64, 1};
  MatrixType f32 = F32On(machine, OperandPrecision::kHighest);
  f32.passes *= 3;
  return f32;
}

MatrixType OfAlgorithm(const Machine& machine, const ir::MatmulPrecision& precision) {
  const double passes = std::max<double>(1, precision.passes);
  const Datatype type = TypeOf(precision.algorithm);
  if (type == Datatype::kF64) return F64On(machine);
  if (type == Datatype::kF32) return F32On(machine, OperandPrecision::kHighest);
  // TF32's 11 bits need two bf16 values: three passes.
  if (type == Datatype::kTf32 && machine.tpu) return F32On(machine, OperandPrecision::kHigh);
  return {type, passes};
}

}  // namespace

MatrixType MatrixTypeOn(const Machine& machine, const Arithmetic& arithmetic) {
  const ir::MatmulPrecision& precision = arithmetic.precision;
  if (arithmetic.dequantised && !Knows(machine, Datatype::kF4)) {  // scales came with 4-bit floats
    return MatrixTypeOn(machine, {.contraction = true, .type = arithmetic.dequantised, .precision = precision});
  }
  if (precision.algorithm != AlgorithmType::kUnset) return OfAlgorithm(machine, precision);
  const Datatype type = arithmetic.type.value_or(Datatype::kF32);
  if (type == Datatype::kF32) return F32On(machine, precision.operands);
  if (type == Datatype::kF64) return F64On(machine);
  // XLA's GPU compiler normalises dots of 4-bit floats to f16 (gpu_float_support.cc); only scaled ones stay.
  if (type == Datatype::kF4 && !arithmetic.dequantised && !machine.tpu) return {Datatype::kF16, 1};
  // Without 64-bit integer units, a product is four of 32 bits.
  if (type == Datatype::kI64 && !Knows(machine, type) && Knows(machine, Datatype::kI32)) return {Datatype::kI32, 4};
  return {type, 1};
}

FlopsPerSecond RateOn(const Machine& machine, const Arithmetic& arithmetic) {
  constexpr double kPerSecond = 1e6;  // of rates in flop/us
  if (!arithmetic.type) return {machine.other_rate * kPerSecond};
  if (!arithmetic.contraction) return {machine.vector_rate[static_cast<size_t>(*arithmetic.type)] * kPerSecond};
  const MatrixType run = MatrixTypeOn(machine, arithmetic);
  return {Rate(machine, run.type) / run.passes * kPerSecond};
}

double SecondsOn(const Machine& machine, const std::vector<Arithmetic>& arithmetic) {
  double seconds = 0;
  for (const Arithmetic& part : arithmetic) seconds += part.flops / RateOn(machine, part).value;
  return seconds;
}

std::vector<Arithmetic> ArithmeticOf(const ir::Module& module, ir::OpId op) {
  std::vector<Arithmetic> out;
  if (module.kind(op) != ir::OpKind::kFusion) {
    Append(module, op, out);
    return out;
  }
  for (const ir::OpId inner : ir::FusedOps(module, op)) Append(module, inner, out);
  return out;
}

}  // namespace hespas::estimate
