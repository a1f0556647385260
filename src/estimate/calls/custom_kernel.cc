#include "estimate/calls/custom_kernel.h"

#include <algorithm>
#include <string>

#include "base/units.h"
#include "estimate/calls/attention.h"
#include "estimate/calls/block_scaled_dot.h"
#include "estimate/calls/call_text.h"
#include "estimate/calls/linear_algebra.h"
#include "ir/facts/library_call.h"

namespace hespas::estimate {
namespace {

using internal::SaturatingAdd;
using internal::SaturatingRound;

// 8-bit integers in results are workspaces: memory, not traffic.
int64_t DataBytes(const ir::Module& module, ir::TypeId id) {
  const ir::Type& type = module.types()[id];
  if (type.kind == ir::TypeKind::kTuple) {
    int64_t sum = 0;
    for (const ir::TypeId part : type.nested) sum = SaturatingAdd(sum, DataBytes(module, part));
    return sum;
  }
  const bool workspace = type.element.kind == ir::ElementKind::kUnsigned && type.element.bits == 8;
  return workspace && type.dims.size() == 1 ? 0 : ir::ByteSize(module.types(), id);
}

// A value that is two operands, as pages of latent vectors are keys and values, is read once.
int64_t InBytes(const ir::Module& module, ir::OpId op) {
  int64_t sum = 0;
  const auto operands = module.operands(op);
  for (auto at = operands.begin(); at != operands.end(); ++at) {
    if (std::find(operands.begin(), at, *at) != at) continue;
    sum = SaturatingAdd(sum, ir::ByteSize(module.types(), module.type_id(*at)));
  }
  return sum;
}

int64_t OutBytes(const ir::Module& module, ir::OpId op) {
  int64_t sum = 0;
  for (const ir::ValueId value : module.results(op)) sum = SaturatingAdd(sum, DataBytes(module, module.type_id(value)));
  return sum;
}

// `flops`, `transcendentals`, and bytes under one of two names; operands and results where bytes are not told.
std::optional<OpCost> Told(const ir::Module& module, ir::OpId op, std::string_view text) {
  const auto flops = NumberIn(text, "flops");
  auto bytes = NumberIn(text, "bytes_accessed");
  if (!bytes) bytes = NumberIn(text, "bytes");
  if (!flops && !bytes) return std::nullopt;
  const int64_t moved = SaturatingAdd(InBytes(module, op), OutBytes(module, op));
  return OpCost{.flops = SaturatingRound(std::max(0.0, flops.value_or(0))),
                .bytes = bytes ? SaturatingRound(std::max(0.0, *bytes)) : moved,
                .contraction = true,
                .own_kernel = true,
                .transcendentals = SaturatingRound(std::max(0.0, NumberIn(text, "transcendentals").value_or(0)))};
}

std::optional<OpCost> ByItsEstimate(const ir::Module& module, ir::OpId op) {
  const std::string config = CallConfiguration(module, op);
  const size_t at = config.find("cost_estimate");
  if (at == std::string::npos) return std::nullopt;
  const std::string_view estimate = std::string_view(config).substr(at);
  return Told(module, op, estimate.substr(0, estimate.find('}')));
}

bool Has(std::string_view target, std::string_view part) { return target.find(part) != std::string_view::npos; }

}  // namespace

std::optional<OpCost> CustomKernelCost(const ir::Module& module, ir::OpId op) {
  if (const std::string_view* given = module.attribute(op, "hespas.cost")) return Told(module, op, *given);
  const std::string target = ir::CallTarget(module, op);
  if (target.starts_with("__cublas") || target.starts_with("__cudnn$conv")) return std::nullopt;  // library_call.h
  if (auto told = ByItsEstimate(module, op)) return told;
  const int64_t in = InBytes(module, op);
  const int64_t moved = SaturatingAdd(in, OutBytes(module, op));
  if (const auto attention = AttentionOf(module, op, target)) {
    return OpCost{.flops = attention->flops,
                  .bytes = moved,
                  .contraction = true,
                  .own_kernel = true,
                  .transcendentals = attention->exponentials,
                  .head = attention->head};
  }
  if (const auto dot = BlockScaledDotOf(module, op, target))
    return OpCost{.flops = dot->flops, .bytes = moved, .contraction = true, .block_scaled = true};
  if (const auto algebra = LinearAlgebraOf(module, op, target)) {
    return OpCost{.flops = algebra->flops,
                  .bytes = SaturatingAdd(moved, algebra->bytes),
                  .contraction = true,
                  .own_kernel = true,
                  .full_precision = true,
                  .steps = algebra->steps};
  }
  if (Has(target, "callback")) return OpCost{.bytes = moved, .own_kernel = true, .host_bytes = moved};
  if (Has(target, "MoveToHost") || Has(target, "MoveToDevice")) {
    return OpCost{.bytes = in, .own_kernel = true, .host_bytes = in};
  }
  if (Has(target, "lu_pivots_to_permutation") || Has(target, "shape_assertion")) return OpCost{.bytes = moved};
  return std::nullopt;
}

double FactorisationSteps(const ir::Module& module, ir::OpId op) {
  const ir::OpKind kind = module.kind(op);
  const bool factorises = kind == ir::OpKind::kCholesky;
  if ((!factorises && kind != ir::OpKind::kTriangularSolve) || module.op(op).operand_count == 0) return 0;
  const ir::Type& matrix = module.type(module.operands(op)[0]);
  if (matrix.dims.empty() || matrix.dims.back() == ir::kDynamic) return 0;
  // As potrf: a column after the other; a solve goes panel by panel.
  return factorises ? static_cast<double>(matrix.dims.back()) : PanelSteps(matrix.dims.back());
}

}  // namespace hespas::estimate
