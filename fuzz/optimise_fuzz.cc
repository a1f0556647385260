// Links: optimise read
// Programs through the optimiser's passes, for each target: what comes out is a program, too.
#include <string>
#include <string_view>

#include "ir/verify/verify.h"
#include "optimise/optimise.h"
#include "read/read.h"

namespace hespas {
namespace {

using optimise::Target;

const optimise::Options kWays[] = {{},
                                   {.flags = {.all_gather = 0, .triton_matmuls = true, .latency_hiding = false}},
                                   {.gpu = {.capability = 90}, .bf16_capability = 90, .expand_kernels = true},
                                   {.target = Target::kTpu},
                                   {.target = Target::kCpu}};

// The optimiser starts at main: the first function is called so.
std::string WithMain(std::string text) {
  constexpr std::string_view kFunction = "func.func @";
  const size_t at = text.find(kFunction);
  if (at == std::string::npos || text.find("@main") != std::string::npos) return text;
  const size_t name = at + kFunction.size();
  return text.replace(name, text.find('(', name) - name, "main");
}

// The reader takes functions that end without returning; no pass has to mend them.
bool Returns(const ir::Module& module) {
  const ir::OpId main = module.main();
  if (!main.valid() || !module.body(main).valid()) return false;
  const auto& ops = module.block(module.body(main)).ops;
  return !ops.empty() && ir::IsTerminator(module.kind(ops.back()));
}

bool IsValid(const ir::Module& module) {
  Diagnostics defects;
  ir::Verify(module, ir::Origin::kMlir, defects);
  return !defects.has_errors();
}

int OptimiseEachWay(const uint8_t* data, size_t size) {
  Diagnostics diagnostics;
  const std::string content = WithMain({reinterpret_cast<const char*>(data), size});
  auto module = read::ReadText("program", content, {}, diagnostics);
  if (!module || diagnostics.has_errors() || !Returns(*module) || !IsValid(*module)) return 0;
  for (const optimise::Options& options : kWays) {
    const auto optimised = optimise::OptimiseAgain(*module, options);
    if (!optimised ? optimised.error().kind == &optimise::kLostOrder : !IsValid(*optimised)) __builtin_trap();
  }
  return 0;
}

}  // namespace
}  // namespace hespas

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) { return hespas::OptimiseEachWay(data, size); }
