#include "estimate/calibrated/model.h"

#include <gmock/gmock.h>

#include <cmath>
#include <functional>
#include <random>

#include "base/system/file.h"
#include "estimate/calibrated/collective.h"

namespace hespas::estimate::calibrated {
namespace {

const Parameters& Shipped() {
  static const Parameters parameters = [] {
    const std::string file = std::string(HESPAS_SOURCE_DIR) + "/data/models/calibrated.json";
    const auto text = ReadInput(file);
    const auto read = ReadParameters(*text, file);
    EXPECT_TRUE(read.ok());
    return *read;
  }();
  return parameters;
}

hardware::Device RandomDevice(std::mt19937& random) {
  const auto between = [&](double low, double high) {
    return std::exp(std::uniform_real_distribution(std::log(low), std::log(high))(random));
  };
  hardware::Device device;
  device.family = "gpu";
  device.sm_count = static_cast<int>(between(8, 400));
  device.clock_hz = between(0.8e9, 3e9);
  device.lanes_per_sm = between(0, 2) < 1 ? 64 : 128;
  device.matrix_flops_per_clock = std::exp2(std::round(between(9, 14)));
  const double f32 = 2.0 * *device.lanes_per_sm * *device.sm_count * *device.clock_hz;
  const double bf16 = *device.matrix_flops_per_clock * *device.sm_count * *device.clock_hz;
  device.per_datatype_flops = {{"f32", {f32}},       {"f64", {f32 / 2}}, {"bf16", {bf16}},
                               {"tf32", {bf16 / 2}}, {"f16", {bf16}},    {"f8E4M3FN", {2 * bf16}}};
  device.peak_flops = {f32};
  device.memory_bandwidth = {between(1e11, 2e13)};
  device.l2_capacity = Bytes(static_cast<int64_t>(between(1e6, 3e8)));
  device.shared_memory_per_sm = Bytes(static_cast<int64_t>(between(5e4, 3e5)));
  device.tdp_w = between(50, 1500);
  device.process_nm = static_cast<int>(between(3, 17));
  return device;
}

KernelSpec RandomKernel(std::mt19937& random) {
  const auto size = [&](double high) {
    return std::floor(std::exp(std::uniform_real_distribution(0.0, std::log(high))(random)));
  };
  constexpr Shape kShapes[] = {Shape::kGemm,        Shape::kLinear,  Shape::kBatchedGemm, Shape::kConvolution,
                               Shape::kElementwise, Shape::kSoftmax, Shape::kNorm,        Shape::kTraffic};
  constexpr Datatype kTypes[] = {Datatype::kF32, Datatype::kF64, Datatype::kBf16, Datatype::kTf32, Datatype::kF8};
  return {.shape = kShapes[random() % std::size(kShapes)],
          .type = kTypes[random() % std::size(kTypes)],
          .b = size(512),
          .m = size(16384),
          .n = size(16384),
          .k = size(65536),
          .input_channels = size(512),
          .output_channels = size(512),
          .kernel_size = random() % 2 == 0 ? 3.0 : 1.0,
          .extent = size(256),
          .bytes = size(1e9),
          .instructions = {.lanes = size(1e9), .special = size(1e8)},
          .dispatch_us = random() % 2 == 0 ? 30.0 : 0.0};
}

void Scale(hardware::RateTable& rates, double factor) {
  for (auto& [type, rate] : rates) rate.value *= factor;
}

struct Improvement {
  const char* name;
  std::function<void(hardware::Device&, double)> apply;
};

const Improvement kImprovements[] = {
    {"SMs", [](hardware::Device& d, double f) { d.sm_count = static_cast<int>(std::ceil(*d.sm_count * f)); }},
    {"clock", [](hardware::Device& d, double f) { d.clock_hz = *d.clock_hz * f; }},
    {"bandwidth", [](hardware::Device& d, double f) { d.memory_bandwidth.value *= f; }},
    {"peak",
     [](hardware::Device& d, double f) {
       Scale(d.per_datatype_flops, f);
       d.peak_flops.value *= f;
     }},
    {"one peak", [](hardware::Device& d, double f) { d.per_datatype_flops["bf16"].value *= f; }},
};

TEST(KernelModel, ABetterDeviceIsNeverSlower) {
  std::mt19937 random(7);
  for (int i = 0; i < 3000; ++i) {
    const hardware::Device device = RandomDevice(random);
    const KernelSpec kernel = RandomKernel(random);
    const double before = KernelModel(device, Shipped()).Time(kernel).us;
    ASSERT_TRUE(std::isfinite(before));
    ASSERT_GT(before, 0);
    for (const Improvement& improvement : kImprovements) {
      hardware::Device better = device;
      improvement.apply(better, std::uniform_real_distribution(1.001, 3.0)(random));
      EXPECT_LE(KernelModel(better, Shipped()).Time(kernel).us, before * (1 + 1e-12))
          << improvement.name << " shape " << static_cast<int>(kernel.shape);
    }
  }
}

// Files of ten lines name neither lanes nor matrix operations a clock. More SMs at the same peak are then slower ones.
TEST(KernelModel, ABetterDeviceOfAShortFileIsNeverSlower) {
  std::mt19937 random(19);
  for (int i = 0; i < 1000; ++i) {
    hardware::Device device = RandomDevice(random);
    device.lanes_per_sm.reset();
    device.matrix_flops_per_clock.reset();
    const KernelSpec kernel = RandomKernel(random);
    const double before = KernelModel(device, Shipped()).Time(kernel).us;
    for (const Improvement& improvement : kImprovements) {
      if (std::string_view(improvement.name) == "SMs") continue;
      hardware::Device better = device;
      improvement.apply(better, std::uniform_real_distribution(1.001, 3.0)(random));
      EXPECT_LE(KernelModel(better, Shipped()).Time(kernel).us, before * (1 + 1e-12))
          << improvement.name << " shape " << static_cast<int>(kernel.shape);
    }
  }
}

TEST(KernelModel, ExponentialsGainLittleFromMoreLanes) {
  std::mt19937 random(31);
  hardware::Device device = RandomDevice(random);
  const auto gain = [&](const Instructions& instructions) {
    const auto us = [&](int lanes) {
      device.lanes_per_sm = lanes;
      return KernelModel(device, Shipped()).Time({.instructions = instructions}).compute_us;
    };
    return us(64) / us(128);
  };
  EXPECT_NEAR(gain({.lanes = 1e9}), 2, 1e-9);
  EXPECT_NEAR(gain({.special = 1e9}), 1, 1e-9);
  EXPECT_NEAR(gain({.lanes = 8e9, .special = 1e9}), 12.0 / 8, 1e-9);
}

// Of rows of `n` elements, as multiples of the time that memory takes for one read and one write.
double Passes(const hardware::Device& device, Shape shape, double n) {
  const KernelModel model(device, Shipped());
  const KernelSpec rows{.shape = shape, .b = std::ceil(1e9 / n), .n = n};
  const KernelSpec copy{.shape = Shape::kTraffic, .bytes = 8 * rows.b * n};
  return model.Time(rows).us / model.Time(copy).us;
}

hardware::Device LargeDevice() {
  hardware::Device device;
  device.family = "gpu";
  device.sm_count = 108;
  device.clock_hz = 1.4e9;
  device.lanes_per_sm = 64;
  device.per_datatype_flops = {{"f32", {1.95e13}}};
  device.memory_bandwidth = {1e12};
  device.l2_capacity = Bytes(40 << 20);
  device.shared_memory_per_sm = Bytes(164 << 10);
  return device;
}

TEST(KernelModel, ANormReadsItsRowsAgainWhereCachesCannotHoldThoseInFlight) {
  hardware::Device device = LargeDevice();
  EXPECT_NEAR(Passes(device, Shape::kNorm, 1024), 1, 0.01);
  EXPECT_NEAR(Passes(device, Shape::kNorm, 16384), 1 + Shipped().rows.norm_reread, 0.01);
  device.l2_capacity = Bytes(800 << 20);
  EXPECT_NEAR(Passes(device, Shape::kNorm, 16384), 1, 0.01);
}

TEST(KernelModel, ShortRowsOfANormWaitForTheSchedulers) {
  hardware::Device device = LargeDevice();
  device.memory_bandwidth = {1e13};
  const KernelSpec rows{.shape = Shape::kNorm, .b = 1e6, .n = 512};
  const double four = KernelModel(device, Shipped()).Time(rows).us;
  device.schedulers_per_sm = 2;
  EXPECT_NEAR(KernelModel(device, Shipped()).Time(rows).us, 2 * four, 0.01 * four);
}

TEST(KernelModel, ASoftmaxReadsRowsThatAreNoWholeVectorsOfABlockOneByOne) {
  const double whole = Passes(LargeDevice(), Shape::kSoftmax, 2048);
  EXPECT_NEAR(Passes(LargeDevice(), Shape::kSoftmax, 1024), 1, 0.01);  // one warp keeps the row
  EXPECT_NEAR(Passes(LargeDevice(), Shape::kSoftmax, 2560), whole + Shipped().rows.softmax_scalar, 0.01);
  EXPECT_NEAR(Passes(LargeDevice(), Shape::kSoftmax, 4096), whole, 0.01);
  EXPECT_GT(Passes(LargeDevice(), Shape::kSoftmax, 16384), whole + 0.5);
}

TEST(KernelModel, MatmulsBeyondL2RunAtTheMemorysSustainedRate) {
  std::mt19937 random(37);
  hardware::Device device = RandomDevice(random);
  device.l2_capacity = Bytes(50'000'000);
  const KernelModel model(device, Shipped());
  const auto rate = [&](double batch) {
    const KernelTime time =
        model.Time({.shape = Shape::kGemm, .type = Datatype::kBf16, .b = batch, .m = 1024, .n = 1024, .k = 64});
    return time.bytes / time.memory_us / model.machine().memory_rate;
  };
  EXPECT_NEAR(rate(8), Shipped().gemm.memory_fraction, 1e-9);
  EXPECT_NEAR(rate(8192), SustainedMemoryRate(model.machine(), Shipped().memory) / model.machine().memory_rate, 1e-3);
}

// 100 us of dispatch: next to nothing beside the work of a short convolution, at most so many dispatches beside a long
// one.
TEST(KernelModel, AnEagerConvolutionSpendsMoreThanItsKernels) {
  std::mt19937 random(41);
  const KernelModel model(RandomDevice(random), Shipped());
  const auto extra = [&](double batch) {
    KernelSpec kernel{.shape = Shape::kConvolution,
                      .b = batch,
                      .input_channels = 64,
                      .output_channels = 64,
                      .kernel_size = 3,
                      .extent = 32,
                      .padding = 1};
    const double alone = model.Time(kernel).us;
    kernel.dispatch_us = 100;
    return std::pair(alone, model.Time(kernel).us - alone);
  };
  const auto [long_us, long_extra] = extra(1e6);
  EXPECT_NEAR(long_extra, 100 * Shipped().convolution.dispatches, 0.02 * long_extra + 0.001 * long_us);
  EXPECT_LT(extra(1).second, 100 * Shipped().convolution.dispatches / 2);
}

TEST(KernelModel, FarFromTheDatasheetsLimitsItsTimeIsLessCertain) {
  std::mt19937 random(23);
  const KernelModel model(RandomDevice(random), Shipped());
  const auto relative = [&](double size) {
    const KernelTime time =
        model.Time({.shape = Shape::kGemm, .type = Datatype::kBf16, .m = size, .n = size, .k = size});
    return time.sigma_us / time.us;
  };
  EXPECT_GT(relative(64), 1.5 * relative(16384));
}

TEST(KernelModel, ABoardAtItsPowerLimitIsLessCertain) {
  std::mt19937 random(29);
  hardware::Device device = RandomDevice(random);
  device.per_datatype_flops["tf32"] = device.per_datatype_flops["f32"];
  const KernelSpec kernel{.shape = Shape::kLinear, .m = 8192, .n = 8192, .k = 8192};
  const auto relative = [&](double watts) {
    device.tdp_w = watts;
    const KernelTime time = KernelModel(device, Shipped()).Time(kernel);
    return time.sigma_us / time.us;
  };
  const double limited = relative(30);
  EXPECT_GT(limited, 1.2 * relative(3000));
  device.calibration["linear.sigma"] = Shipped().sigma[static_cast<size_t>(Family::kLinear)];
  EXPECT_LT(relative(30), limited);  // measured: its residuals have the power in them
}

TEST(KernelModel, OnePercentOfAFigureMovesLittle) {
  std::mt19937 random(11);
  for (int i = 0; i < 2000; ++i) {
    const hardware::Device device = RandomDevice(random);
    const KernelSpec kernel = RandomKernel(random);
    const double before = KernelModel(device, Shipped()).Time(kernel).us;
    for (const Improvement& improvement : kImprovements) {
      if (std::string_view(improvement.name) == "SMs") continue;  // whole waves step
      hardware::Device nudged = device;
      improvement.apply(nudged, 1.01);
      EXPECT_GE(KernelModel(nudged, Shipped()).Time(kernel).us, before * 0.97) << improvement.name;
    }
  }
}

TEST(KernelModel, OnePercentOfCapacityOrPowerMovesLittle) {
  std::mt19937 random(13);
  for (int i = 0; i < 4000; ++i) {
    const hardware::Device device = RandomDevice(random);
    const KernelSpec kernel = RandomKernel(random);
    const double before = KernelModel(device, Shipped()).Time(kernel).us;
    hardware::Device larger = device;
    larger.l2_capacity = Bytes(device.l2_capacity->value + device.l2_capacity->value / 100);
    EXPECT_NEAR(KernelModel(larger, Shipped()).Time(kernel).us, before, 0.03 * before) << "L2";
    hardware::Device stronger = device;
    stronger.tdp_w = 1.01 * *device.tdp_w;
    EXPECT_NEAR(KernelModel(stronger, Shipped()).Time(kernel).us, before, 0.03 * before) << "TDP";
  }
}

TEST(KernelModel, SurvivesSizesOutsideOfReason) {
  std::mt19937 random(3);
  const KernelModel model(RandomDevice(random), Shipped());
  const double infinity = std::numeric_limits<double>::infinity();
  for (const double size : {0.0, -5.0, 1e18, infinity, std::nan("")}) {
    for (const Shape shape : {Shape::kGemm, Shape::kLinear, Shape::kBatchedGemm, Shape::kConvolution,
                              Shape::kElementwise, Shape::kSoftmax, Shape::kNorm}) {
      const KernelTime time = model.Time({.shape = shape,
                                          .b = size,
                                          .m = size,
                                          .n = size,
                                          .k = size,
                                          .input_channels = size,
                                          .output_channels = size,
                                          .kernel_size = size,
                                          .extent = size,
                                          .stride = size});
      EXPECT_TRUE(std::isfinite(time.us) && time.us > 0) << size << " shape " << static_cast<int>(shape);
    }
  }
}

TEST(KernelModel, ADeviceFileMayReplaceItsOwnConstants) {
  std::mt19937 random(5);
  hardware::Device device = RandomDevice(random);
  const KernelSpec tiny{.shape = Shape::kGemm, .type = Datatype::kBf16, .m = 16, .n = 16, .k = 16};
  const double before = KernelModel(device, Shipped()).Time(tiny).us;
  device.calibration["gemm.launch_us"] = Shipped().gemm.launch_us + 3;
  device.calibration["gemm.sigma"] = 0.5;
  const KernelTime after = KernelModel(device, Shipped()).Time(tiny);
  EXPECT_NEAR(after.us, before + 3, 1e-9);
  EXPECT_GT(after.sigma_us / after.us, 0.5);  // all launch: far from the datasheet's limits
  EXPECT_EQ(KernelModel(device, Shipped()).FamilySigma(tiny), 0.5);
}

TEST(Machine, LanesFollowFromRateAndClock) {
  hardware::Device stated;
  stated.sm_count = 132;
  stated.clock_hz = 1.98e9;
  stated.per_datatype_flops = {{"f32", {2 * 128 * 132 * 1.98e9}}};
  stated.memory_bandwidth = {3.35e12};
  stated.tdp_w = 700;
  hardware::Device short_file = stated;
  stated.lanes_per_sm = 128;
  std::mt19937 random(17);
  for (int i = 0; i < 200; ++i) {
    const KernelSpec kernel = RandomKernel(random);
    const double us = KernelModel(stated, Shipped()).Time(kernel).us;
    EXPECT_NEAR(KernelModel(short_file, Shipped()).Time(kernel).us, us, 1e-6 * us);
  }
}

// 100 SMs at 1.5 GHz share 1.5 TB/s: 10 bytes a clock each, a sixteenth of 160, by the power of 3/4 an eighth.
TEST(Machine, MemoryIsLessBusyTheMoreOfItEachSmHas) {
  hardware::Device device;
  device.family = "gpu";
  device.sm_count = 100;
  device.clock_hz = 1.5e9;
  MemoryConstants memory{.hbm_bytes_per_clock = 160, .gddr_fraction = 0.75};
  const auto share = [&](double bandwidth) {
    device.memory_bandwidth = {bandwidth};
    const Machine machine = MakeMachine(device);
    return SustainedMemoryRate(machine, memory) / machine.memory_rate;
  };
  EXPECT_NEAR(share(1.5e12), 8.0 / 9, 1e-12);
  EXPECT_NEAR(share(24e12), 0.5, 1e-12);
  device.sm_count.reset();
  EXPECT_EQ(share(1.5e12), share(24e12));
  device.memory_kind = "GDDR6";
  EXPECT_NEAR(share(1.5e12), 0.75, 1e-12);
  memory.own_fraction = 0.9;
  EXPECT_NEAR(share(1.5e12), 0.9, 1e-12);
}

TEST(Machine, TypesWithoutARateRunAsTheNextWiderOne) {
  hardware::Device device;
  device.sm_count = 80;
  device.clock_hz = 1.4e9;
  device.peak_flops = {7e12};
  device.per_datatype_flops = {{"f32", {14e12}}, {"f16", {112e12}}};
  const auto rate = [&](Datatype type) { return MakeMachine(device).matrix_rate[static_cast<size_t>(type)]; };
  const auto on_matrix_units = [&](Datatype type) { return MakeMachine(device).tensor[static_cast<size_t>(type)]; };
  EXPECT_EQ(rate(Datatype::kF64), 7e6);
  EXPECT_EQ(rate(Datatype::kBf16), 14e6);  // older than bf16
  EXPECT_FALSE(on_matrix_units(Datatype::kBf16));
  EXPECT_FALSE(on_matrix_units(Datatype::kTf32));
  EXPECT_TRUE(on_matrix_units(Datatype::kF16));
  device.per_datatype_flops = {{"float32", {14e12}}, {"bfloat16", {112e12}}, {"fp8", {224e12}}};
  EXPECT_EQ(rate(Datatype::kF16), 112e6);
  EXPECT_EQ(rate(Datatype::kF8), 224e6);
  EXPECT_EQ(rate(Datatype::kF4), 112e6);  // XLA multiplies f4 as f16, not as f8
  device.per_datatype_flops = {};
  EXPECT_EQ(rate(Datatype::kBf16), 7e6);
  EXPECT_TRUE(on_matrix_units(Datatype::kBf16));
}

TEST(KernelModel, AnEstimateKeepsItsTerms) {
  std::mt19937 random(5);
  const KernelModel model(RandomDevice(random), Shipped());
  const auto estimate =
      ToEstimate(model.Time({.shape = Shape::kGemm, .type = Datatype::kBf16, .m = 64, .n = 64, .k = 64}));
  EXPECT_EQ(estimate.flops.value, 2 * 64 * 64 * 64);
  ASSERT_EQ(estimate.terms.size(), 5u);
  EXPECT_EQ(estimate.terms[0].name, "launch");
  EXPECT_EQ(estimate.source, "calibrated");
}

TEST(Collectives, MeshesAndReducingSwitchesMoveLess) {
  const Ports plain{.rate = 450e3};
  Ports reducing = plain;
  reducing.reducing_switch = true;
  const CollectiveSpec eight{.op = CollectiveOp::kAllReduce, .ranks = 8, .bytes = 1e9};
  EXPECT_LT(CollectiveModel(reducing, Shipped()).Time(eight).us, CollectiveModel(plain, Shipped()).Time(eight).us);
  const Ports mesh{.rate = 450e3, .mesh = true, .peers = 7};
  const CollectiveModel model(mesh, Shipped());
  const CollectiveSpec two{.op = CollectiveOp::kAllGather, .ranks = 2, .bytes = 1e9};
  const CollectiveSpec all{.op = CollectiveOp::kAllGather, .ranks = 8, .bytes = 1e9};
  EXPECT_GT(model.Time(two).us, model.Time(all).us);  // two of eight peers have one link
  EXPECT_EQ(model.Time({.op = CollectiveOp::kAllGather, .ranks = 1, .bytes = 1e9}).us, 0);
}

// Without bytes to speak of a ring's latency grows with each rank, another collective's with each doubling.
TEST(Collectives, LatencyFollowsTheLongestChainOfMessages) {
  const CollectiveModel model(Ports{.rate = 450e3}, Shipped());
  const auto latency = [&](CollectiveOp op, double ranks) { return model.Time({.op = op, .ranks = ranks}).us; };
  for (const CollectiveOp op : {CollectiveOp::kAllGather, CollectiveOp::kReduceScatter}) {
    EXPECT_NEAR(latency(op, 8) - latency(op, 4), 2 * (latency(op, 4) - latency(op, 2)), 1e-9);
  }
  for (const CollectiveOp op : {CollectiveOp::kAllReduce, CollectiveOp::kAllToAll}) {
    EXPECT_NEAR(latency(op, 8) - latency(op, 4), latency(op, 4) - latency(op, 2), 1e-9);
  }
}

// Four ranks a host: those of another add the messages of the ring, and nothing to an exchange of all at once.
TEST(Collectives, RanksOfOtherHostsAddMessagesOnly) {
  const CollectiveModel near(Ports{.rate = 900e3}, Shipped());
  const CollectiveModel far(Ports{.rate = 900e3, .devices_per_host = 4}, Shipped());
  const auto latency = [](const CollectiveModel& model, CollectiveOp op, double ranks) {
    return model.Time({.op = op, .ranks = ranks}).us;
  };
  for (const CollectiveOp op : {CollectiveOp::kAllGather, CollectiveOp::kReduceScatter}) {
    EXPECT_EQ(latency(far, op, 4), latency(near, op, 4));
    EXPECT_NEAR(latency(far, op, 8) - latency(far, op, 4), 4 * 0.6, 1e-9);
    EXPECT_LT(latency(far, op, 8), latency(near, op, 8));
  }
  EXPECT_EQ(latency(far, CollectiveOp::kAllToAll, 8), latency(far, CollectiveOp::kAllToAll, 4));
  EXPECT_EQ(latency(far, CollectiveOp::kAllReduce, 8), latency(near, CollectiveOp::kAllReduce, 8));
}

TEST(Collectives, AnAllReduceOnAMeshIsAReduceScatterAndAnAllGather) {
  const CollectiveModel mesh(Ports{.rate = 450e3, .mesh = true, .peers = 7}, OnMesh(Shipped()));
  for (const double ranks : {2.0, 4.0, 8.0}) {
    for (const double bytes : {1e3, 1e6, 1e9}) {
      const auto us = [&](CollectiveOp op) { return mesh.Time({.op = op, .ranks = ranks, .bytes = bytes}).us; };
      const double both = us(CollectiveOp::kReduceScatter) + us(CollectiveOp::kAllGather);
      EXPECT_NEAR(us(CollectiveOp::kAllReduce) / both, 1, 0.02) << ranks << " ranks, " << bytes << " bytes";
    }
  }
}

// A mesh's own measurements of all-reduces outweigh those of its phases.
TEST(Collectives, OwnConstantsOfAnAllReduceReplaceItsPhases) {
  hardware::Device device;
  device.interconnect = hardware::Interconnect{.topology = "mesh", .bandwidth = BytesPerSecond{448e9}};
  const auto launch = [&] { return ForDevice(Shipped(), device).collectives[0].launch_us; };
  device.calibration["all-gather.launch_us"] = 7;
  EXPECT_DOUBLE_EQ(launch(), 7 + Shipped().collectives[static_cast<size_t>(CollectiveOp::kReduceScatter)].launch_us);
  device.calibration["all-reduce.launch_us"] = 35;
  EXPECT_DOUBLE_EQ(launch(), 35);
  device.calibration["collective.devices_per_host"] = 4;
  EXPECT_EQ(CollectiveModel(device, Shipped()).ports().devices_per_host, 4);
}

TEST(Collectives, AReducingSwitchHoldsTheRateOfManyRanks) {
  const CollectiveModel model(Ports{.rate = 900e3, .reducing_switch = true}, Shipped());
  const auto wire = [&](double ranks) {
    return model.Time({.op = CollectiveOp::kAllReduce, .ranks = ranks, .bytes = 1e9}).wire_us;
  };
  EXPECT_DOUBLE_EQ(wire(72), wire(16));
  EXPECT_LT(wire(16), wire(4) * 16 / 4);
}

TEST(Machine, SpecialUnitsFollowTheDeviceFile) {
  hardware::Device device;
  device.family = "gpu";
  EXPECT_EQ(MakeMachine(device).special_lanes, 16);
  device.special_lanes_per_sm = 32;
  EXPECT_EQ(MakeMachine(device).special_lanes, 32);
}

TEST(Parameters, AConstantIsReadByItsOldName) {
  const std::string file = std::string(HESPAS_SOURCE_DIR) + "/data/models/calibrated.json";
  std::string text(*ReadInput(file));
  const size_t at = text.find("matmul_power");
  ASSERT_NE(at, std::string::npos);
  text.replace(at, std::string("matmul_power").size(), "product_power");
  const auto read = ReadParameters(text, file);
  ASSERT_TRUE(read.ok());
  EXPECT_EQ(read->dispatch.matmul_power, Shipped().dispatch.matmul_power);
  EXPECT_GT(read->dispatch.matmul_power, 0);
}

TEST(Parameters, AMissingConstantIsNamed) {
  const auto read = ReadParameters(R"({"families": {}, "sigma": {}})", "p.json");
  ASSERT_FALSE(read.ok());
  EXPECT_EQ(read.error().kind, &kBadParameters);
  EXPECT_THAT(read.error().message, ::testing::HasSubstr("launch_us"));
}

}  // namespace
}  // namespace hespas::estimate::calibrated
