// Small programs, and what the stages make of them, for the tests of the Python prototype's defects.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "assemble/assemble.h"
#include "estimate/estimate_all.h"
#include "estimate/roofline/prototype_roofline.h"
#include "estimate/roofline/roofline.h"
#include "read/read.h"
#include "split/split.h"

namespace hespas::differences {

inline ir::Module Parse(const std::string& text) {
  Diagnostics diagnostics;
  auto module = read::ReadText("test.mlir", text, {}, diagnostics);
  EXPECT_TRUE(module.ok()) << (module.ok() ? "" : Render(module.error()));
  return module.ok() ? *std::move(module) : ir::Module();
}

inline graph::BlockGraph Split(const ir::Module& module, split::Options options) {
  Diagnostics diagnostics;
  auto graph = split::Split(module, options, diagnostics);
  EXPECT_TRUE(graph.ok());
  return graph.ok() ? *std::move(graph) : graph::BlockGraph{};
}

inline std::vector<std::string> Names(const ir::Module& module, const graph::Block& block) {
  std::vector<std::string> names;
  for (const ir::OpId op : block.ops) {
    const std::string_view name = module.name(op);
    names.emplace_back(name.substr(name.find('.') + 1));
  }
  return names;
}

inline std::vector<size_t> Predecessors(const graph::Block& block) {
  std::vector<size_t> ids;
  for (const graph::BlockId p : block.predecessors) ids.push_back(p.index());
  return ids;
}

// The first op of that name in `main`.
inline ir::OpId Find(const ir::Module& module, std::string_view name) {
  for (const ir::OpId op : module.block(module.body(module.main())).ops) {
    if (module.name(op) == name) return op;
  }
  ADD_FAILURE() << "no " << name;
  return ir::OpId();
}

inline hardware::Device TestDevice() {
  hardware::Device device;
  device.name = "test";
  device.peak_flops = {1e12};
  device.per_datatype_flops = {{"f32", {1e12}}, {"tf32", {8e12}}, {"bf16", {16e12}}, {"i32", {1e12}}};
  device.vector_flops = {{"bf16", {2e12}}};
  device.memory_bandwidth = {1e12};
  return device;
}

inline estimate::PrototypeRates TestRates() { return estimate::PrototypeRates::Of(TestDevice()); }

inline graph::Estimate EstimateOp(const ir::Module& module, ir::OpId op) {
  estimate::Notes notes;
  return estimate::Roofline(TestDevice()).EstimateOp(module, op, notes);
}

inline Result<trace::TraceGraph> Trace(const ir::Module& module, assemble::Options options, Diagnostics& diagnostics) {
  const auto graph = Split(module, {.compat = options.compat});
  const auto table = estimate::EstimateAll(graph, estimate::Roofline(TestDevice()), nullptr, {}, diagnostics);
  EXPECT_TRUE(table.ok());
  return assemble::Assemble(module, graph, *table, options, diagnostics);
}

inline constexpr char kBodyOfReduction[] = R"(({
    ^bb0(%x: tensor<f32>, %y: tensor<f32>):
      %s = stablehlo.add %x, %y : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }))";

inline std::string AllReduce(const std::string& result, const std::string& operand, const std::string& groups,
                             const std::string& type = "tensor<8xf32>") {
  return "    " + result + " = \"stablehlo.all_reduce\"(" + operand + ") <{replica_groups = " + groups + "}> " +
         kBodyOfReduction + " : (" + type + ") -> " + type + "\n";
}

inline std::string Main(const std::string& arguments, const std::string& result, const std::string& body,
                        const std::string& attributes = "") {
  return "module @m" + attributes + " {\n  func.func public @main(" + arguments + ") -> " + result + " {\n" + body +
         "  }\n}\n";
}

inline constexpr char kPair[] = "dense<[[0, 1]]> : tensor<1x2xi64>";

inline std::string ChainAroundAllReduce() {
  return Main("%a: tensor<8xf32>", "tensor<8xf32>",
              "    %0 = stablehlo.tanh %a : tensor<8xf32>\n" + AllReduce("%1", "%0", kPair) +
                  "    %2 = stablehlo.negate %1 : tensor<8xf32>\n    return %2 : tensor<8xf32>\n");
}

}  // namespace hespas::differences
