#include "estimate/ptx/iree_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "estimate/calibrated/machine.h"
#include "estimate/calibrated/matmuls.h"
#include "graph/block_module.h"
#include "ir/facts/fusion.h"
#include "ir/printer.h"
#include "ir/walk.h"

namespace hespas::estimate::ptx {
namespace {

using ir::OpSort;

bool Computes(OpSort sort) {
  constexpr OpSort kSorts[] = {OpSort::kElementwise, OpSort::kReduction, OpSort::kContraction, OpSort::kLayout,
                               OpSort::kSlice,       OpSort::kGather,    OpSort::kScatter,     OpSort::kSort,
                               OpSort::kRandom,      OpSort::kOther};
  return std::find(std::begin(kSorts), std::end(kSorts), sort) != std::end(kSorts);
}

bool IsIota(const ir::Module& module, ir::OpId op) { return module.kind(op) == ir::OpKind::kIota; }

// What may stand in a program of several operations.
bool MayStand(const ir::Module& module, ir::OpId op) {
  const OpSort sort = ir::Traits(module.kind(op)).sort;
  return Computes(sort) || sort == OpSort::kConstant || module.kind(op) == ir::OpKind::kOptimizationBarrier;
}

void KeepOwnAttributes(ir::Module& module, ir::OpId op) {
  std::vector<ir::Attribute> kept;
  for (const ir::Attribute& attribute : module.attributes(op)) {
    if (module.name(attribute.name).find('.') == std::string_view::npos) kept.push_back(attribute);
  }
  if (kept.size() != module.attributes(op).size()) module.SetAttributes(op, kept);
}

bool IsNarrowFloat(const ir::Element& element) {
  using Kind = ir::ElementKind;
  return element.kind == Kind::kF16 || element.kind == Kind::kBF16 ||
         (element.kind >= Kind::kF8E3M4 && element.kind <= Kind::kF8E8M0FNU);
}

// Gives a matmul a single-precision result, and returns the conversion that makes it what it was.
ir::OpId Widen(ir::Module& module, ir::OpId op, ir::BlockId body) {
  const ir::ValueId result = module.result(op);
  const ir::TypeId narrow = module.type_id(result);
  ir::Type type = module.type(result);
  type.element = *ir::ElementFromText("f32");
  module.SetValueType(result, module.types().Intern(std::move(type)));
  const ir::ValueId operands[] = {result};
  const ir::TypeId types[] = {narrow};
  return module.AddOp(body,
                      {.name = module.InternName("stablehlo.convert"), .operands = operands, .result_types = types});
}

void ReplaceUses(ir::Module& module, const std::vector<ir::OpId>& ops, size_t from, ir::ValueId old, ir::ValueId made) {
  for (size_t i = from; i < ops.size(); ++i) {
    const auto operands = module.operands(ops[i]);
    for (size_t o = 0; o < operands.size(); ++o) {
      if (operands[o] == old) module.SetOperand(ops[i], o, made);
    }
  }
}

void WidenMatmuls(ir::Module& module) {
  const ir::BlockId body = module.body(module.main());
  const std::vector<ir::OpId> ops = module.block(body).ops;
  std::vector<ir::OpId> ordered;
  for (size_t i = 0; i < ops.size(); ++i) {
    ordered.push_back(ops[i]);
    const bool matmul = ir::Traits(module.kind(ops[i])).sort == OpSort::kContraction;
    if (!matmul || !IsNarrowFloat(module.type(module.result(ops[i])).element)) continue;
    const ir::OpId narrowed = Widen(module, ops[i], body);
    ReplaceUses(module, ops, i + 1, module.result(ops[i]), module.result(narrowed));
    ordered.push_back(narrowed);
  }
  module.SetBlockOps(body, std::move(ordered));
}

void ReplaceAll(std::string& text, std::string_view from, std::string_view to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

std::string Text(const ir::Module& module, const graph::Block& block) {
  ir::Module program = graph::BlockModule(module, block);
  for (const ir::OpId op : program.block(program.body(program.main())).ops) {
    KeepOwnAttributes(program, op);
    ir::WalkNested(program, op, [&](ir::OpId inner) { KeepOwnAttributes(program, inner); });
  }
  WidenMatmuls(program);
  std::string text = ir::PrintGeneric(program);
  ReplaceAll(text, "\"mhlo.", "\"stablehlo.");
  ReplaceAll(text, "#mhlo", "#stablehlo");
  return text;
}

std::optional<std::string> FusionText(const ir::Module& module, ir::OpId fusion) {
  const ir::BlockId body = ir::FusionBody(module, fusion);
  if (!body.valid()) return std::nullopt;
  graph::Block block;
  for (const ir::ValueId argument : module.arguments(body)) block.inputs.push_back(argument);
  for (const ir::OpId op : module.block(body).ops) {
    if (ir::IsTerminator(module.kind(op))) {
      block.outputs.assign(module.operands(op).begin(), module.operands(op).end());
    } else if (!MayStand(module, op)) {
      return std::nullopt;
    } else {
      block.ops.push_back(op);
    }
  }
  return Text(module, block);
}

// The matmul of a library call, as a batched dot of its own.
std::optional<std::string> MatmulText(const ir::Module& module, ir::OpId op) {
  const auto matmul = calibrated::MatmulOf(module, op, calibrated::Machine{});
  const bool convolves = matmul && matmul->shape == calibrated::Shape::kConvolution;
  if (!matmul || convolves || module.operands(op).empty()) return std::nullopt;
  const std::string type = ir::ElementText(module.type(module.operands(op)[0]).element);
  const auto shape = [&](double rows, double columns) {
    return fmt::format("tensor<{:.0f}x{:.0f}x{:.0f}x", matmul->b, rows, columns);
  };
  const std::string lhs = shape(matmul->m, matmul->k) + type + ">", rhs = shape(matmul->k, matmul->n) + type + ">",
                    sums = shape(matmul->m, matmul->n) + "f32>", result = shape(matmul->m, matmul->n) + type + ">";
  const std::string last = type == "f32" ? "" : fmt::format("  %1 = stablehlo.convert %0 : ({}) -> {}\n", sums, result);
  return fmt::format(
      "func.func @main(%a: {}, %b: {}) -> {} {{\n  %0 = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], "
      "contracting_dims = [2] x [1] : ({}, {}) -> {}\n{}  return {} : {}\n}}\n",
      lhs, rhs, result, lhs, rhs, sums, last, last.empty() ? "%0" : "%1", result);
}

}  // namespace

std::optional<std::string> IreeProgram(const ir::Module& module, const graph::Block& block) {
  bool computes = false;
  for (const ir::OpId op : block.ops) {
    if (!MayStand(module, op)) return std::nullopt;
    computes |= Computes(ir::Traits(module.kind(op)).sort);
  }
  return computes ? std::optional(Text(module, block)) : std::nullopt;
}

std::optional<std::string> IreeProgram(const ir::Module& module, ir::OpId op) {
  const OpSort sort = ir::Traits(module.kind(op)).sort;
  if (sort == OpSort::kFusion) return FusionText(module, op);
  if (sort == OpSort::kCustomCall) return MatmulText(module, op);
  if (!Computes(sort) && !IsIota(module, op)) return std::nullopt;
  graph::Block block{.ops = {op}};
  for (const ir::ValueId operand : module.operands(op)) {
    if (std::find(block.inputs.begin(), block.inputs.end(), operand) == block.inputs.end()) {
      block.inputs.push_back(operand);
    }
  }
  for (const ir::ValueId result : module.results(op)) block.outputs.push_back(result);
  return Text(module, block);
}

}  // namespace hespas::estimate::ptx
