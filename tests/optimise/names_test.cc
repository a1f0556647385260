// The framework's names through the optimiser: they survive, and change nothing.
#include <gmock/gmock.h>

#include <regex>

#include "ir/facts/framework_name.h"
#include "ir/printer.h"
#include "ir/walk.h"
#include "programs.h"
#include "report/step/kernel_name.h"

namespace hespas {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// Two layers that call one function, and equal work under two names.
const std::string kProgram = R"x(
#file = loc("model.py":1:1)
#scope = loc("jit(f)/layers/1/mlp"(#file))
func.func @main(%x: tensor<512x512xf32>, %w: tensor<512x512xf32>) -> (tensor<512x512xf32>, tensor<512x512xf32>) {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32> loc("jit(f)/layers/0/attention/dot_general"(#file))
  %1 = call @gelu(%0) : (tensor<512x512xf32>) -> tensor<512x512xf32> loc("jit(f)/layers/0/mlp/jit(gelu)"(#file))
  %2 = stablehlo.dot_general %1, %w, contracting_dims = [1] x [0] : (tensor<512x512xf32>, tensor<512x512xf32>) -> tensor<512x512xf32> loc("dot_general"(#scope))
  %3 = call @gelu(%2) : (tensor<512x512xf32>) -> tensor<512x512xf32> loc("jit(f)/layers/1/mlp/jit(gelu)"(#file))
  %4 = stablehlo.tanh %w : tensor<512x512xf32> loc("jit(f)/first/tanh")
  %5 = stablehlo.tanh %w : tensor<512x512xf32> loc("jit(f)/second/tanh")
  %6 = stablehlo.add %4, %5 : tensor<512x512xf32> loc("jit(f)/sum/add")
  return %3, %6 : tensor<512x512xf32>, tensor<512x512xf32>
}
func.func private @gelu(%x: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %0 = stablehlo.tanh %x : tensor<512x512xf32> loc("tanh"(#file))
  %1 = stablehlo.multiply %x, %0 : tensor<512x512xf32> loc("mul"(#file))
  return %1 : tensor<512x512xf32>
}
)x";

std::vector<std::string> NamesIn(const ir::Module& module) {
  std::vector<std::string> names;
  ir::WalkNested(module, module.main(), [&](ir::OpId op) {
    if (std::string name = ir::OwnFrameworkName(module, op); !name.empty()) names.push_back(std::move(name));
  });
  return names;
}

std::vector<std::string> KernelNames(const ir::Module& module) {
  std::vector<std::string> names;
  for (const ir::OpId op : module.block(module.body(module.main())).ops) {
    if (!ir::IsTerminator(module.kind(op))) names.push_back(report::KernelName(module, op));
  }
  return names;
}

TEST(Names, OfCallsAreThoseOfTheirCallers) {
  const std::vector<std::string> names = NamesIn(Optimised(kProgram, Until("inline")));
  EXPECT_THAT(names, Contains("jit(f)/layers/0/mlp/jit(gelu)/tanh"));
  EXPECT_THAT(names, Contains("jit(f)/layers/1/mlp/jit(gelu)/tanh"));
  EXPECT_THAT(names, Contains("jit(f)/layers/1/mlp/dot_general"));
}

TEST(Names, StandOnKernels) {
  const std::vector<std::string> kernels = KernelNames(Optimised(kProgram));
  EXPECT_THAT(kernels, Contains("layers/0/attention matmul 512x512x512"));
  EXPECT_THAT(kernels, Contains("layers/1/mlp matmul 512x512x512"));
  EXPECT_THAT(kernels, Contains("layers/1/mlp fused tanh·multiply f32[512,512]"));
  EXPECT_THAT(kernels, Contains("sum fused tanh·add f32[512,512]"));
}

TEST(Names, ChangeNothing) {
  const std::string unnamed = std::regex_replace(kProgram, std::regex("f32> loc.*"), "f32>");
  EXPECT_THAT(unnamed, Not(HasSubstr("jit(f)/first")));
  EXPECT_EQ(ir::PrintGeneric(Optimised(kProgram)), ir::PrintGeneric(Optimised(unnamed)));
  const ir::Module module = Optimised(unnamed);
  EXPECT_THAT(KernelNames(module), Contains("matmul 512x512x512"));
  EXPECT_THAT(NamesIn(module), ElementsAre());
}

}  // namespace
}  // namespace hespas
