#include "ir/facts/library_call.h"

#include <gtest/gtest.h>

#include "read/hlo/hlo.h"

namespace hespas::read {
namespace {

ir::LibraryCall Decode(const std::string& body, size_t op = 0) {
  Diagnostics diagnostics;
  const auto module = ReadHloText("gpu.hlo", "HloModule m\nENTRY e {\n" + body + "\n}\n", diagnostics);
  EXPECT_TRUE(module.ok());
  if (!module) return {};
  const auto& ops = module->block(module->body(module->main())).ops;
  const auto call = ir::LibraryCallOf(*module, ops[op]);
  EXPECT_TRUE(call.has_value());
  return call.value_or(ir::LibraryCall{});
}

TEST(LibraryCall, GemmTakesItsDimensionsFromTheConfiguration) {
  const auto call = Decode(
      "  a = bf16[9,4096,64]{2,1,0} parameter(0)\n  b = bf16[9,128,64]{2,1,0} parameter(1)\n"
      "  c = bf16[9,4096,128]{2,1,0} parameter(2)\n"
      "  ROOT r = (bf16[9,4096,128]{2,1,0}, s8[4194304]{0}) custom-call(a, b, c), "
      "custom_call_target=\"__cublas$lt$matmul\", "
      "backend_config={\"gemm_backend_config\":{\"alpha_real\":1,\"beta\":1,\"dot_dimension_numbers\":{"
      "\"lhs_contracting_dimensions\":[\"2\"],\"rhs_contracting_dimensions\":[\"2\"],\"lhs_batch_dimensions\":[\"0\"],"
      "\"rhs_batch_dimensions\":[\"0\"]},\"epilogue\":\"BIAS_RELU\"}}");
  EXPECT_EQ(call.kind, ir::LibraryKind::kGemm);
  EXPECT_EQ(call.batch, 9);
  EXPECT_EQ(call.m, 4096);
  EXPECT_EQ(call.n, 128);
  EXPECT_EQ(call.k, 64);
  EXPECT_TRUE(call.accumulates);
  EXPECT_EQ(call.epilogue, "BIAS_RELU");
  EXPECT_EQ(call.flops(), int64_t{2} * 9 * 4096 * 128 * 64);
}

TEST(LibraryCall, ConvolutionsOfAllDirectionsCountTheSameMultiplyAdds) {
  const std::string tail =
      ", window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_01io->b01f, custom_call_target=\"__cudnn$conv";
  const std::string x = "f32[8,16,16,32]{3,2,1,0}", w = "f32[3,3,32,64]{3,2,1,0}", y = "f32[8,16,16,64]{3,2,1,0}";
  const auto direction = [&](const std::string& a, const std::string& b, const std::string& r,
                             const std::string& name) {
    return Decode("  a = " + a + " parameter(0)\n  b = " + b + " parameter(1)\n  ROOT r = (" + r +
                  ", u8[0]{0}) custom-call(a, b)" + tail + name + "\"");
  };
  const int64_t expected = int64_t{2} * 8 * 16 * 16 * 64 * 9 * 32;
  EXPECT_EQ(direction(x, w, y, "Forward").flops(), expected);
  EXPECT_EQ(direction(y, w, x, "BackwardInput").flops(), expected);
  const ir::LibraryCall filter = direction(x, y, w, "BackwardFilter");
  EXPECT_EQ(filter.flops(), expected);
  EXPECT_EQ(filter.m, 9 * 32);
  EXPECT_EQ(filter.n, 64);
  EXPECT_EQ(filter.k, 8 * 16 * 16);
  const ir::LibraryCall input = direction(y, w, x, "BackwardInput");
  EXPECT_EQ(input.m, 8 * 16 * 16);
  EXPECT_EQ(input.n, 32);
  EXPECT_EQ(input.k, 9 * 64);
}

TEST(LibraryCall, CallsOfOperationsAreTheseOperations) {
  const auto called = [](const std::string& target) {
    Diagnostics diagnostics;
    const auto module = ReadHloText("x.hlo",
                                    "HloModule m\nENTRY e {\n  a = f32[4]{0} parameter(0)\n  ROOT r = f32[4]{0} "
                                    "custom-call(a), custom_call_target=\"" +
                                        target + "\"\n}\n",
                                    diagnostics);
    return ir::CalledOperation(*module, module->block(module->body(module->main())).ops[0]);
  };
  EXPECT_EQ(called("mhlo.erf"), "chlo.erf");
  EXPECT_EQ(called("mhlo.cosh"), "chlo.cosh");
  EXPECT_EQ(called("mhlo.topk"), "chlo.top_k");
  EXPECT_EQ(called("mhlo.nonsense"), "");
  EXPECT_EQ(called("TopK"), "");
}

TEST(LibraryCall, OtherCallsAreNone) {
  Diagnostics diagnostics;
  const auto module = ReadHloText("x.hlo",
                                  "HloModule m\nENTRY e {\n  a = f32[4]{0} parameter(0)\n  ROOT r = f32[4]{0} "
                                  "custom-call(a), custom_call_target=\"TopK\"\n}\n",
                                  diagnostics);
  ASSERT_TRUE(module);
  EXPECT_FALSE(ir::LibraryCallOf(*module, module->block(module->body(module->main())).ops[0]));
}

}  // namespace
}  // namespace hespas::read
