#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "estimate/field/context_kernels.h"
#include "estimate/field/experts/expert_loads.h"
#include "estimate/field/generation.h"
#include "estimate/field/rows.h"
#include "estimate/field/tiles.h"
#include "hardware/presets.h"

namespace hespas::estimate::field {
namespace {

hardware::Device Preset(const char* name) {
  Diagnostics diagnostics;
  auto device = hardware::LoadDevice(name, diagnostics);
  EXPECT_TRUE(device) << name;
  return *device;
}

const Constants& Shipped() {
  EXPECT_TRUE(DefaultConstants());
  return *DefaultConstants();
}

TEST(FieldMatmul, NeverRunsFasterThanPeakOrMemory) {
  const Chip chip = MakeChip(Preset("B200_180GB"));
  for (const double m : {1.0, 128.0, 4096.0, 65536.0}) {
    for (const double n : {128.0, 8192.0}) {
      for (const Format format : {Format::kF16, Format::kF8, Format::kF8Block, Format::kNvF4}) {
        const double us = TimeOf(chip, Shipped(), Matmul{format, m, n, 8192}).us;
        EXPECT_GT(us, 2 * m * n * 8192 / chip.Rate(format)) << m << " " << n;
      }
    }
  }
}

TEST(FieldMatmul, BoardPowerLimitsLongMatmulsOnly) {
  hardware::Device device = Preset("H100_80GB");
  const Chip all = MakeChip(device);
  device.tdp_w = *device.tdp_w / 2;
  const Chip half = MakeChip(device);
  const Matmul large{Format::kF16, 16384, 16384, 16384};
  const Matmul small{Format::kF16, 1, 1024, 1024};
  // The clock falls by less than the power: 630 and 280 W above idle allow clocks of 1.38 to 1.
  const double slower = TimeOf(half, Shipped(), large).us / TimeOf(all, Shipped(), large).us;
  EXPECT_GT(slower, 1.3);
  EXPECT_LT(slower, 1.39);
  const double unbound = TimeOf(all, Shipped(), small).us;
  EXPECT_NEAR(TimeOf(half, Shipped(), small).us, unbound, 1e-4 * unbound);
}

// The board's controller takes milliseconds.
TEST(FieldMatmul, ShortKernelsExceedTheBoardsPower) {
  const Chip chip = MakeChip(Preset("H100_80GB"));
  const MatmulConstants& shared = Shipped().matmul;
  const auto clock = [&](double us) { return PowerClock(chip, shared, chip.sms * chip.flops_per_clock, us); };
  EXPECT_LT(clock(shared.burst_us), clock(1));
  EXPECT_GT(clock(shared.burst_us), 1.05 * clock(1e9));
}

TEST(FieldMatmul, NoKernelOfAModelIsAShortOneToTheBoard) {
  Matmul matmul{.m = 4096, .n = 8192, .k = 8192, .in_step = true};
  const auto us = [&](Chip chip) { return TimeOf(chip, Shipped(), matmul).us; };
  Chip chip = MakeChip(Preset("H100_80GB"));
  const double of_model = us(chip);
  matmul.weights_between = matmul.n * matmul.k;  // it alone, again and again
  EXPECT_GT(of_model, 1.05 * us(chip));
  chip.watts = 0;  // without a limit both take as long, but for weights out of memory
  const double unlimited = us(chip);
  matmul.weights_between = 0;
  EXPECT_LT(us(chip), 1.05 * unlimited);
}

TEST(FieldMatmul, SmallWeightsComeOutOfL2) {
  const Chip chip = MakeChip(Preset("L40S_48GB"));
  const double in_cache = TimeOf(chip, Shipped(), Matmul{Format::kF16, 1, 4096, 2048}).us;   // 16 MiB, five copies fit
  const double in_memory = TimeOf(chip, Shipped(), Matmul{Format::kF16, 1, 4096, 3584}).us;  // 28 MiB, they do not
  EXPECT_GT(in_memory, 2 * in_cache);
}

// Each half of A100's L2 keeps what its multiprocessors read.
TEST(FieldMatmul, L2KeepsDataBelowItsSizeOnly) {
  const Chip whole = MakeChip(Preset("L40S_48GB")), split = MakeChip(Preset("A100_SXM_80GB"));
  for (const Chip& chip : {whole, split}) {
    EXPECT_EQ(KeptInTurn(chip, 0.5 * chip.l2_bytes), 1);
    EXPECT_EQ(KeptInTurn(chip, 1.1 * chip.l2_bytes), 0);
  }
  EXPECT_EQ(KeptInTurn(whole, 0.9 * whole.l2_bytes), 1);
  EXPECT_LT(KeptInTurn(split, 0.9 * split.l2_bytes), 0.5);
}

// By get_best_gemm_config: of 256 x 10,240, tiles of 80 columns leave 124 blocks for the second wave, of 128
// columns 28.
TEST(FieldMatmul, HopperTakesTheTileOfFewestWaves) {
  const Chip chip = MakeChip(Preset("H100_80GB"));
  const auto tile = [&](double m, double n) {
    const Tiling tiling = TilingOf(chip, Shipped(), {.format = Format::kF8Block, .m = m, .n = n, .k = 4096});
    EXPECT_EQ(tiling.tiles.size(), 1U);
    return std::pair(tiling.tiles.front().m, tiling.tiles.front().n);
  };
  EXPECT_EQ(tile(16, 128), std::pair(16.0, 128.0));  // rows and columns change places
  EXPECT_EQ(tile(64, 2048), std::pair(64.0, 16.0));
  EXPECT_EQ(tile(256, 10240), std::pair(128.0, 80.0));
  EXPECT_EQ(tile(129, 16384), std::pair(128.0, 128.0));
}

// Inline in GDDR6, beside the data in HBM; a GeForce board has none.
TEST(FieldChip, ErrorCorrectionTakesASixteenthOfGddr) {
  const auto share = [](const char* device) {
    return MakeChip(Preset(device)).bandwidth * 1e6 / Preset(device).memory_bandwidth.value;
  };
  EXPECT_DOUBLE_EQ(share("L40S_48GB"), 0.9375);
  EXPECT_DOUBLE_EQ(share("RTX_4090_24GB"), 1);
  EXPECT_DOUBLE_EQ(share("H100_80GB"), 1);
}

// Device files state the watts of an idle board, whose GDDR has its clock lowered: 864 GB/s at 7.5 pJ a bit are 51.8 W.
TEST(FieldChip, MemoryAtItsFullClockTakesWattsOfGddrBoards) {
  EXPECT_NEAR(MakeChip(Preset("L40S_48GB")).idle_watts, 35 + 51.84, 1e-9);
  EXPECT_DOUBLE_EQ(MakeChip(Preset("H100_80GB")).idle_watts, 70);
  hardware::Device device = Preset("L40S_48GB");
  for (const char* kind : {"HBM3", "GDDR5", "GDDR9"}) {  // no known energy of a bit
    device.memory_kind = kind;
    EXPECT_DOUBLE_EQ(MakeChip(device).idle_watts, 35) << kind;
  }
  device.memory_kind = "HBM3";
  const Matmul large{Format::kF16, 16384, 16384, 16384};
  // 315 instead of 263 W above idle, to the power of 1 / 2.5.
  const double ratio =
      TimeOf(MakeChip(Preset("L40S_48GB")), Shipped(), large).us / TimeOf(MakeChip(device), Shipped(), large).us;
  EXPECT_NEAR(ratio, 1.07, 0.01);
}

// 112 tiles of 128 x 256 do not fit the 108 multiprocessors of an A100 at once, and no tile is larger: measured 86 us.
TEST(FieldMatmul, ATileMoreThanMultiprocessorsTakesAnotherWave) {
  const Chip chip = MakeChip(Preset("A100_SXM_80GB"));
  const auto us = [&](double n) { return TimeOf(chip, Shipped(), Matmul{.m = 512, .n = n, .k = 1536}).us; };
  EXPECT_GT(us(7168), 1.2 * us(6912));
}

TEST(FieldMatmul, CublasHasMoreTilesForWideInstructions) {
  const auto tiles = [](const char* device) {
    return TilingOf(MakeChip(Preset(device)), Shipped(), {.m = 4096, .n = 4096, .k = 4096}).tiles;
  };
  EXPECT_GT(tiles("H100_80GB").size(), tiles("A100_SXM_80GB").size());
  constexpr double kRegisters = 65536;  // of an SM
  for (const char* device : {"A100_SXM_80GB", "H100_80GB", "B200_180GB"}) {
    for (const Tile& tile : tiles(device)) EXPECT_LT(tile.m * tile.n, kRegisters) << device;
  }
}

// TensorRT-LLM's get_best_gemm_config: a cluster of two from 1,024 rows on, where whole pairs of tiles fill the
// columns.
TEST(FieldMatmul, HoppersPairsOfBlocksShareWhatTheyRead) {
  const Chip chip = MakeChip(Preset("H100_80GB"));
  const auto tiling = [&](Matmul size) {
    size.format = Format::kF8Block;
    return TilingOf(chip, Shipped(), size);
  };
  EXPECT_EQ(tiling({.m = 2048, .n = 2048, .k = 4096}).inputs_read, 0.5);
  EXPECT_EQ(tiling({.m = 512, .n = 2048, .k = 4096}).inputs_read, 1);
  EXPECT_EQ(tiling({.m = 2048, .n = 128, .k = 4096, .experts = true}).inputs_read, 1);
  EXPECT_EQ(tiling({.m = 3072, .n = 7168, .k = 4096}).inputs_read, 1);  // 59.7 tiles of 120
  EXPECT_EQ(tiling({.m = 17, .n = 8192, .k = 4096}).inputs_read, 1);
}

// With the places of rows and columns changed, two tiles of 16 tokens read weights together.
TEST(FieldMatmul, HoppersTilesOfFewTokensReadWeightsOnce) {
  const Chip chip = MakeChip(Preset("H100_80GB"));
  const auto us = [&](double m) {
    return TimeOf(chip, Shipped(), Matmul{.format = Format::kF8Block, .m = m, .n = 16384, .k = 16384}).us;
  };
  EXPECT_LT(us(17), 1.15 * us(16));
}

// Narrow tiles wait for L2: measured 80 us, where matrix units and sums take 34.
TEST(FieldMatmul, NarrowTilesOfBlocksWaitForOperands) {
  const Chip chip = MakeChip(Preset("H100_80GB"));
  const Matmul size{.format = Format::kF8Block, .m = 129, .n = 1536, .k = 16384};
  EXPECT_GT(TimeOf(chip, Shipped(), size).us, 45);
}

// The second tile has one row of 128 and runs apart: measured 202, 136 and 105 us.
TEST(FieldMatmul, TilesOfDifferentLengthReadWeightsApart) {
  const Chip chip = MakeChip(Preset("H100_80GB"));
  const auto us = [&](double m) {
    return TimeOf(chip, Shipped(), Matmul{.format = Format::kF8Block, .m = m, .n = 16384, .k = 16384}).us;
  };
  EXPECT_GT(us(129), 1.3 * us(256));
  EXPECT_GT(us(129), 1.7 * us(128));
}

TEST(FieldMatmul, ScalesOfBlocksCostNothingWhereInstructionsTakeThem) {
  const auto slower = [](const char* device) {
    const Chip chip = MakeChip(Preset(device));
    const auto us = [&](Format format) {
      return TimeOf(chip, Shipped(), Matmul{.format = format, .m = 8192, .n = 8192, .k = 8192, .in_step = true}).us;
    };
    return us(Format::kF8Block) / us(Format::kF8);
  };
  EXPECT_LT(slower("B200_180GB"), 1.1);
  EXPECT_GT(slower("H100_80GB"), 1.15);
  EXPECT_GT(slower("L40S_48GB"), 1.4);  // and one tile, of 32 x 128
}

TEST(FieldMatmul, FourBitKernelsDoNotSplitContractions) {
  const Chip chip = MakeChip(Preset("B200_180GB"));
  const auto us = [&](Format format, double depth) {
    return TimeOf(chip, Shipped(), Matmul{.format = format, .m = 16, .n = 256, .k = depth, .in_step = true}).us;
  };
  const double steps = (65536 - 1024) / 128.0;
  EXPECT_GE(us(Format::kNvF4, 65536) - us(Format::kNvF4, 1024), steps * Shipped().nvf4.step_clocks / chip.clock);
  EXPECT_LT(us(Format::kF16, 65536), us(Format::kNvF4, 65536) / 2);
}

TEST(FieldAttention, CausalMaskHalvesLongContextsAndWindowsBoundThem) {
  const Chip chip = MakeChip(Preset("H100_80GB"));
  AttentionCall call{.batch = 4, .queries = 16384, .keys = 16384, .heads = 32, .key_heads = 8};
  const double causal = TimeOf(chip, Shipped(), call).us;
  call.phase = Phase::kEncoder;
  EXPECT_NEAR(TimeOf(chip, Shipped(), call).us / causal, 2, 0.1);
  call.phase = Phase::kContext;
  call.window = 1024;
  EXPECT_LT(TimeOf(chip, Shipped(), call).us, 0.25 * causal);
}

TEST(FieldAttention, AnEncoderMayLookAtFewerKeysThanItHasQueries) {
  const Chip chip = MakeChip(Preset("H100_80GB"));
  AttentionCall call{
      .phase = Phase::kEncoder, .queries = 8192, .keys = 4096, .heads = 32, .key_heads = 8, .cudnn = true};
  for (const bool backward : {false, true}) {
    call.backward = backward;
    AttentionCall whole = call;
    whole.keys = 8192;
    EXPECT_NEAR(TimeOf(chip, Shipped(), whole).us / TimeOf(chip, Shipped(), call).us, 2, 0.1);
  }
}

TEST(FieldAttention, GenerationReadsEachKeyHeadOnce) {
  const Chip chip = MakeChip(Preset("H100_80GB"));
  AttentionCall call{.phase = Phase::kGeneration, .batch = 64, .keys = 8192, .heads = 32, .key_heads = 32};
  const double many = TimeOf(chip, Shipped(), call).us;
  const double bytes = 2.0 * 2 * 64 * 8192 * 32 * 128;
  EXPECT_GT(many, bytes / chip.bandwidth);
  call.key_heads = 8;
  EXPECT_NEAR(many / TimeOf(chip, Shipped(), call).us, 4, 0.4);
}

// XQA with an 8-bit cache and FlashAttention 2 without shared key heads read a sequence with one block.
TEST(FieldAttention, SequencesThatKernelsDoNotSplitTakeABlocksTime) {
  AttentionCall call{.phase = Phase::kGeneration, .batch = 1, .keys = 131072, .heads = 4, .key_heads = 1, .rope = true};
  const Chip narrow = MakeChip(Preset("L40S_48GB"));
  const double split = TimeOf(narrow, Shipped(), call).us;
  call.f8_cache = true;
  const double whole = TimeOf(narrow, Shipped(), call).us;
  EXPECT_GT(whole, 5 * split);
  call.batch = 8;
  EXPECT_NEAR(TimeOf(narrow, Shipped(), call).us / whole, 1, 0.01);
  call = {.phase = Phase::kGeneration, .batch = 1, .keys = 131072, .heads = 1, .key_heads = 1};
  const Chip flash = MakeChip(Preset("A100_SXM_80GB"));
  const double alone = TimeOf(flash, Shipped(), call).us;
  call.heads = 2;
  EXPECT_LT(TimeOf(flash, Shipped(), call).us, alone / 5);
}

TEST(FieldAttention, TakesTheLibrarysKernel) {
  const Chip hopper = MakeChip(Preset("H100_80GB")), blackwell = MakeChip(Preset("B200_180GB"));
  AttentionCall call{.phase = Phase::kGeneration, .heads = 32, .key_heads = 32, .rope = true};
  EXPECT_EQ(KernelOf(hopper, call), GenerationKernel::kLanes);
  EXPECT_EQ(KernelOf(blackwell, call), GenerationKernel::kWide);
  call.key_heads = 8;
  EXPECT_EQ(KernelOf(hopper, call), GenerationKernel::kGeneral);
  call.f8_cache = true;
  EXPECT_EQ(KernelOf(hopper, call), GenerationKernel::kWide);
  call.heads = 512;
  EXPECT_EQ(KernelOf(blackwell, call), GenerationKernel::kLanes);
  call.rope = false;
  EXPECT_EQ(KernelOf(hopper, call), GenerationKernel::kWide);
  EXPECT_EQ(KernelOf(MakeChip(Preset("L40S_48GB")), call), GenerationKernel::kFlash2);
}

// TensorRT-LLM's fmha_v2/setup.py and fmhaRunner.cpp, FlashAttention 2's flash_fwd_launch_template.h.
TEST(FieldAttention, PromptsTakeTheLibrarysTiles) {
  const Chip ampere = MakeChip(Preset("A100_SXM_80GB")), ada = MakeChip(Preset("L40S_48GB"));
  const Chip hopper = MakeChip(Preset("H100_80GB")), blackwell = MakeChip(Preset("B200_180GB"));
  EXPECT_FALSE(ampere.small_tiles);
  EXPECT_TRUE(ada.small_tiles && MakeChip(Preset("RTX_PRO_6000_96GB")).small_tiles);
  const auto tiles = [](const Chip& chip, double size, double tokens, bool rope = true, bool f8 = false) {
    const ContextKernel kernel =
        ContextKernelOf(chip, {.f8 = f8, .queries = tokens, .keys = tokens, .head_size = size, .rope = rope});
    return std::vector<double>{kernel.queries, kernel.keys, kernel.size};
  };
  EXPECT_EQ(tiles(ampere, 128, 4096), (std::vector<double>{64, 128, 128}));
  EXPECT_EQ(tiles(ampere, 128, 64), (std::vector<double>{64, 32, 128}));
  EXPECT_EQ(tiles(ampere, 128, 4096, false), (std::vector<double>{128, 64, 128}));
  EXPECT_EQ(tiles(ada, 128, 4096), (std::vector<double>{64, 32, 128}));
  EXPECT_EQ(tiles(ada, 192, 4096), (std::vector<double>{64, 16, 192}));
  EXPECT_EQ(tiles(ada, 256, 4096), (std::vector<double>{64, 128, 256}));
  EXPECT_EQ(tiles(ada, 64, 4096, true, true), (std::vector<double>{128, 128, 64}));
  EXPECT_EQ(tiles(hopper, 72, 4096), (std::vector<double>{128, 128, 128}));
  EXPECT_EQ(tiles(hopper, 192, 4096), (std::vector<double>{128, 64, 192}));
  EXPECT_EQ(tiles(hopper, 192, 4096, true, true), (std::vector<double>{128, 128, 256}));
  EXPECT_EQ(tiles(blackwell, 80, 4096), (std::vector<double>{128, 128, 80}));
  const AttentionCall odd{.phase = Phase::kEncoder, .queries = 4096, .keys = 4096, .head_size = 72};
  EXPECT_LT(ContextKernelOf(blackwell, odd).flops_per_clock, blackwell.flops_per_clock / 4);
}

// Registers that a plain kernel for 192 elements lacks cost more than 64 further elements.
TEST(FieldAttention, SpilledRegistersMakeKernelsSlow) {
  const Chip ada = MakeChip(Preset("L40S_48GB"));
  AttentionCall call{.batch = 4, .queries = 8192, .keys = 8192, .heads = 32, .key_heads = 8, .head_size = 192};
  call.rope = true;
  const double plain = TimeOf(ada, Shipped(), call).us;
  call.head_size = 256;
  EXPECT_GT(plain, TimeOf(ada, Shipped(), call).us);
}

// cuDNN 9 on an H100 (jax.nn.dot_product_attention, bf16, JAX 0.11.2): us of the forward kernel and of all backward
// kernels by XLA's profiler. Nothing is fitted to them.
TEST(FieldAttention, GradientsTakeAsLongAsCudnnsKernels) {
  struct Measured {
    double batch, heads, key_heads, length, size, window;
    bool causal;
    double forward_us, backward_us;
  };
  constexpr Measured kMeasured[] = {
      {4, 32, 32, 2048, 128, 0, true, 255, 986}, {1, 32, 8, 8192, 128, 0, true, 889, 2748},
      {2, 48, 1, 4096, 128, 0, true, 679, 2250}, {4, 32, 32, 2048, 128, 0, false, 415, 1498},
      {8, 8, 8, 2048, 128, 0, true, 139, 552},   {2, 16, 16, 8192, 128, 1024, true, 266, 1058},
      {8, 16, 16, 1024, 64, 0, true, 58, 246},   {1, 16, 8, 8192, 64, 0, true, 332, 924},
      {32, 12, 12, 512, 64, 0, false, 69, 329},
  };
  const Chip chip = MakeChip(Preset("H100_80GB"));
  for (const Measured& row : kMeasured) {
    AttentionCall call{.phase = row.causal ? Phase::kContext : Phase::kEncoder,
                       .batch = row.batch,
                       .queries = row.length,
                       .keys = row.length,
                       .heads = row.heads,
                       .key_heads = row.key_heads,
                       .head_size = row.size,
                       .window = row.window,
                       .in_step = true,
                       .cudnn = true};
    const double start = StartUs(chip, Shipped().matmul);
    const std::string name = fmt::format("{} x {} heads, {} of {}", row.batch, row.heads, row.length, row.size);
    EXPECT_NEAR((TimeOf(chip, Shipped(), call).us - start) / row.forward_us, 1.12, 0.14) << name;
    call.backward = true;
    EXPECT_NEAR((TimeOf(chip, Shipped(), call).us - start) / row.backward_us, 0.93, 0.22) << name;
  }
}

TEST(FieldAttention, NarrowGradientsTakeLess) {
  for (const char* device : {"H100_80GB", "B200_180GB", "L40S_48GB"}) {
    const Chip chip = MakeChip(Preset(device));
    AttentionCall call{.batch = 4,
                       .queries = 8192,
                       .keys = 8192,
                       .heads = 32,
                       .key_heads = 8,
                       .in_step = true,
                       .cudnn = true,
                       .backward = true};
    const double wide = TimeOf(chip, Shipped(), call).us;
    call.f8 = true;
    const double narrow = TimeOf(chip, Shipped(), call).us;
    EXPECT_LT(narrow, 0.95 * wide) << device;
    EXPECT_GT(narrow, wide / 2) << device;  // the softmax and 32-bit sums stay
  }
}

TEST(FieldExperts, BalancedLoadsSpreadTokensOverRanks) {
  ExpertLayer layer{.tokens = 4096, .hidden = 7168, .inner = 2048, .chosen = 8, .experts = 256, .ranks = 8};
  EXPECT_EQ(LoadsOf(layer).Rows(), 4096);
  EXPECT_EQ(LoadsOf(layer).Touched(), 32);
  layer.tokens = 2;  // sixteen rows on eight ranks
  EXPECT_EQ(LoadsOf(layer).Touched(), 2);
}

// Token by token, as AIConfigurator's benchmark writes them down.
TEST(FieldExperts, BalancedLoadsAreThoseOfTokensInTurn) {
  for (const double tokens : {1.0, 3.0, 7.0, 40.0, 64.0, 130.0, 200.0}) {
    for (const double chosen : {1.0, 6.0, 8.0, 60.0}) {
      const ExpertLayer layer{.tokens = tokens, .chosen = chosen, .experts = 60, .ranks = 2};
      const double stride = std::ceil(60 / chosen);
      std::vector<double> counts(60);
      for (double token = 0; token < tokens; ++token) {
        for (double choice = 0; choice < chosen; ++choice) {
          const double first = tokens >= stride ? token : std::floor(token * stride / tokens);
          ++counts[static_cast<size_t>(first + choice * stride) % 60];
        }
      }
      std::vector<double> own(counts.begin(), counts.begin() + 30);
      own.erase(std::remove(own.begin(), own.end(), 0.0), own.end());
      EXPECT_EQ(LoadsOf(layer).rows, own) << tokens << " " << chosen;
    }
  }
}

// Pairs of token and choice are 12 * 10^9: minutes, if they were counted one by one.
TEST(FieldExperts, BalancedLoadsOfManyChoicesTakeNoTime) {
  const ExpertLayer layer{.tokens = 200000, .chosen = 60000, .experts = 60000};
  EXPECT_EQ(LoadsOf(layer).Touched(), 60000);
  EXPECT_EQ(LoadsOf(layer).Rows(), 200000.0 * 60000);
  EXPECT_EQ(LoadsOf({.tokens = 2e8, .chosen = 5e8, .experts = 1e9}).Rows(), 65536.0 * 1e8);
}

TEST(FieldExperts, TheBusiestRankHasMoreRowsTheSteeperThePowerLaw) {
  ExpertLayer layer{.tokens = 4096, .hidden = 7168, .inner = 2048, .chosen = 8, .experts = 256, .ranks = 8};
  const double balanced = LoadsOf(layer).Rows();
  layer.exponent = 1.2;
  EXPECT_GT(LoadsOf(layer).Rows(), 1.3 * balanced);
  EXPECT_EQ(LoadsOf(layer).Rows(), LoadsOf(layer).Rows());
  layer.ranks = 1;
  const ExpertLoads all = LoadsOf(layer);
  EXPECT_NEAR(all.Rows(), 4096 * 8, 1024);  // no expert has more rows than there are tokens
  EXPECT_LE(*std::max_element(all.rows.begin(), all.rows.end()), 4096);
  layer.tokens = 4;  // fewer rows than experts
  EXPECT_EQ(LoadsOf(layer).Rows(), 32);
  EXPECT_LE(LoadsOf(layer).Touched(), 32);
}

// An expert with one row takes a tile of its own.
TEST(FieldExperts, UnevenLoadsTakeMoreTiles) {
  const Chip chip = MakeChip(Preset("A100_SXM_80GB"));
  Matmul matmul{.m = 1024, .n = 4096, .k = 4096, .groups = 64, .experts = true, .in_step = true};
  const double even = TimeOf(chip, Shipped(), matmul).us;
  std::vector<double> loads(64, 1);
  for (size_t i = 0; i < 32; ++i) loads[i] = 2047;
  matmul.loads = loads;
  EXPECT_GT(TimeOf(chip, Shipped(), matmul).us, 1.01 * even);
}

TEST(FieldExperts, ReadsTheWeightsOfExpertsThatTokensReach) {
  const Chip chip = MakeChip(Preset("H100_80GB"));
  ExpertLayer layer{.tokens = 256, .hidden = 7168, .inner = 2048, .chosen = 8, .experts = 256};
  const double weights = 3.0 * 7168 * 2048 * 256;
  EXPECT_GT(TimeOf(chip, Shipped(), layer).us, 2 * weights / chip.bandwidth);
  layer.format = Format::kF8;
  EXPECT_LT(TimeOf(chip, Shipped(), layer).us, 2 * weights / chip.bandwidth);
  layer.tokens = 1;
  EXPECT_LT(TimeOf(chip, Shipped(), layer).us, weights / 4 / chip.bandwidth);
}

// TensorRT-LLM's kernels before a layer's own ones: routing.py and fused_moe_cutlass.py.
TEST(FieldExperts, RoutingAndQuantisingByKernelsOfTheirOwnTakeLonger) {
  const ExpertConstants& own = Shipped().experts;
  const auto us = [](const char* device, const ExpertPasses& passes) {
    return PassesUs(MakeChip(Preset(device)), Shipped(), passes);
  };
  const double clock = MakeChip(Preset("H100_80GB")).clock;
  EXPECT_DOUBLE_EQ(us("H100_80GB", {.chosen = 16, .experts = 512}), own.start_clocks / clock);
  EXPECT_DOUBLE_EQ(us("H100_80GB", {.chosen = 17, .experts = 512}), (own.start_clocks + own.routing_clocks) / clock);
  EXPECT_DOUBLE_EQ(us("H100_80GB", {.chosen = 8, .experts = 513}), (own.start_clocks + own.routing_clocks) / clock);
  EXPECT_DOUBLE_EQ(us("H100_80GB", {.format = Format::kF8}), (own.start_clocks + own.quantising_clocks) / clock);
  EXPECT_DOUBLE_EQ(us("H100_80GB", {.format = Format::kF8, .weight_bytes = 0.53125}), own.start_clocks / clock);
  EXPECT_DOUBLE_EQ(us("H100_80GB", {.format = Format::kF8Block}), own.start_clocks / clock);
  const double blackwell = MakeChip(Preset("B200_180GB")).clock;
  EXPECT_DOUBLE_EQ(us("B200_180GB", {.format = Format::kF8Block}),
                   (own.start_clocks + own.quantising_clocks) / blackwell);
}

TEST(FieldExperts, FourBitWeightsTakeTheirBytesWhereRegistersWidenThem) {
  Matmul few{.m = 8, .n = 5760, .k = 2880, .groups = 32, .experts = true, .weight_bytes = 0.53125, .in_step = true};
  Matmul many = few;
  many.m = 4096;
  const auto against_16_bits = [](const char* device, Matmul size) {
    const Chip chip = MakeChip(Preset(device));
    const double narrow = TimeOf(chip, Shipped(), size).us;
    size.weight_bytes = 2;
    return narrow / TimeOf(chip, Shipped(), size).us;
  };
  EXPECT_LT(against_16_bits("H100_80GB", few), 0.75);
  EXPECT_GT(against_16_bits("H100_80GB", many), 1.5);  // lanes widen slower than tensor cores multiply
  EXPECT_GT(against_16_bits("B200_180GB", few), 0.9);  // through shared memory, which costs more
  EXPECT_GT(against_16_bits("B200_180GB", many), 1.5 * against_16_bits("H100_80GB", many));
}

TEST(FieldRows, AnswerLayersOfExperts) {
  const auto table = ParseCsv(
      "op,dtype,tokens,hidden,inter,topk,experts,tp,ep,gated,distribution\n"
      "moe,bf16,128,4096,1024,8,128,1,4,1,balanced\n"
      "moe,nvfp4,128,4096,1024,8,128,1,4,1,power_law_1.2\n"
      "moe,w4a16_mxfp4,128,4096,1024,8,128,1,4,1,\n"
      "moe,bf16,128,4096,1024,8,128,1,4,1,sideways\n"
      "moe,int3,128,4096,1024,8,128,1,4,1,balanced\n"
      "moe,bf16,128,4096,1024,8,4,1,4,1,balanced\n",
      "t.csv");
  ASSERT_TRUE(table);
  const auto times = TimesOfRows(*table, Preset("B200_180GB"), Shipped());
  EXPECT_TRUE(times[0] && times[1] && times[2]);
  EXPECT_FALSE(times[3] || times[4] || times[5]);
}

// A token of eight experts goes to 5.25 of eight ranks on the mean, and to both hosts of two.
TEST(FieldRows, AnswerTheAllToAllOfExperts) {
  const auto table = ParseCsv(
      "op,mode,nodes,gpus,tokens,hidden,topk,experts,sms\n"
      "dispatch,normal,1,8,131072,7168,8,256,20\n"
      "dispatch,normal,1,8,131072,7168,8,256,10\n"
      "combine,normal,1,8,131072,7168,8,256,20\n"
      "dispatch,normal,1,8,131072,7168,1,256,20\n"
      "dispatch,normal,4,32,131072,7168,8,256,24\n"
      "dispatch,low-latency,1,8,128,7168,8,256,0\n"
      "dispatch,sideways,1,8,128,7168,8,256,20\n"
      "dispatch,normal,1,8,128,7168,8,4,20\n"
      "dispatch,normal,inf,inf,128,7168,8,inf,20\n",
      "t.csv");
  ASSERT_TRUE(table);
  const auto times = TimesOfRows(*table, Preset("H100_80GB"), Shipped());
  for (size_t row = 0; row < 6; ++row) ASSERT_TRUE(times[row]) << row;
  EXPECT_GT(times[1]->us, 1.5 * times[0]->us);
  EXPECT_GT(times[2]->us, times[0]->us);
  EXPECT_LT(times[3]->us, times[0]->us / 2);
  // 2.7 of the three other hosts, through an adapter of 50 GB/s.
  EXPECT_GT(times[4]->us, 2.6 * 131072 * 7168 / 50e3);
  EXPECT_LT(times[5]->us, 50);
  EXPECT_FALSE(times[6] || times[7] || times[8]);
  // L40S has no network between hosts that is known.
  EXPECT_FALSE(TimesOfRows(*table, Preset("L40S_48GB"), Shipped())[4]);
}

TEST(FieldRows, RefuseCellsOfAnAllToAllThatSayNothing) {
  const auto table = ParseCsv(
      "op,mode,nodes,gpus,tokens,hidden,topk,experts,sms\n"
      "dispatch,,1,8,128,7168,8,256,\n"
      "combine,low-latency,1,8,128,7168,8,256,0\n"
      "gemm,Normal,1,8,128,7168,8,256,-5\n"
      "dispatch,normal,1,8,128,7168,8,256,-5\n"
      "combine,normal,1,8,128,7168,8,256,nan\n"
      "dispatch,Normal,1,8,128,7168,8,256,20\n",
      "t.csv");
  ASSERT_TRUE(table);
  Diagnostics diagnostics;
  EXPECT_FALSE(CheckDispatchRows(*table, "t.csv", diagnostics));
  const std::vector<std::string> expected = {"column `sms` of `dispatch` has `-5`",
                                             "column `sms` of `combine` has `nan`",
                                             "column `mode` of `dispatch` has `Normal`"};
  ASSERT_EQ(diagnostics.all().size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(diagnostics.all()[i].message, expected[i]);
}

TEST(FieldRows, TakeWhatTheyLeaveOutAsInTablesOfGraphs) {
  const std::string head = "op,dtype,timing,phase,batch,seq_q,seq_kv,heads,kv_heads,head_dim";
  const std::string row = "\nattention,bf16,graph,generation,1,1,128,8,8,64";
  const auto time = [&](const std::string& columns, const std::string& cells) {
    const auto table = ParseCsv(head + columns + row + cells + "\n", "rows.csv");
    return TimesOfRows(*table, Preset("H100_80GB"), Shipped()).at(0)->us;
  };
  const double start = Shipped().generation.graph_start_us;
  EXPECT_EQ(time("", ""), time(",rope,kv_write,dispatch_us", fmt::format(",1,1,{}", start)));
  EXPECT_EQ(time(",framework", ",vllm"), time(",rope,kv_write,dispatch_us", fmt::format(",0,1,{}", start)));
}

TEST(FieldRows, LeavesOtherRowsToOtherModels) {
  const auto table = ParseCsv(
      "op,dtype,b,m,n,k,timing,phase,batch,seq_q,seq_kv,heads,kv_heads,head_dim\n"
      "gemm,bf16,1,128,128,128,graph,,,,,,,\n"
      "gemm,bf16,1,128,128,128,,,,,,,,\n"
      "gemm,nvfp4,1,128,128,128,,,,,,,,\n"
      "gemm,bf16,1,,128,128,graph,,,,,,,\n"
      "attention,bf16,,,,,graph,context,1,128,128,8,8,64\n"
      "attention,bf16,,,,,graph,sideways,1,128,128,8,8,64\n"
      "attention,bf16,,,,,graph,generation,1e300,1,inf,8,8,64\n",
      "t.csv");
  ASSERT_TRUE(table);
  const auto times = TimesOfRows(*table, Preset("H100_80GB"), Shipped());
  ASSERT_EQ(times.size(), 7u);
  EXPECT_TRUE(times[0] && times[2] && times[4]);
  EXPECT_FALSE(times[1] || times[3] || times[5]);
  EXPECT_TRUE(!times[6] || std::isfinite(times[6]->us));
}

TEST(FieldConstants, NameWhatIsMissing) {
  const auto constants = ReadConstants(R"({"schema_version": 1, "families": {}})", "f.json");
  ASSERT_FALSE(constants);
  EXPECT_THAT(constants.error().message, testing::HasSubstr("matmul"));
}

}  // namespace
}  // namespace hespas::estimate::field
