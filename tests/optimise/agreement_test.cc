// Agreement with XLA's own optimised programs, summarised into tests/data/optimise/*.json by summarise_oracles.py.
#include <algorithm>
#include <fstream>
#include <functional>
#include <initializer_list>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>

#include "driver/inspect/kernels/kernel_summary.h"
#include "driver/pipeline/run.h"
#include "hardware/presets.h"
#include "programs.h"

namespace hespas {
namespace {

// The sizes of a LLaMA by which a kernel's family is told.
struct Llama {
  int64_t heads;
  int64_t head = 128;
  int64_t tokens = 4096;
  int64_t vocabulary = 128256;
  int64_t width() const { return heads * head; }
  int64_t inner() const { return 224 * heads; }  // of an MLP, on one device
};

// Ours over XLA's, less one, in percent.
struct Difference {
  double kernels;
  double bytes;
  size_t largest;  // of the 20 largest kernels, how many move the same bytes
};

struct Pair {
  const char* name;
  const char* program;
  const char* oracle;
  optimise::Options options;
  std::optional<Llama> llama;  // other programs have no families
  Difference known;            // to half a point

  friend void PrintTo(const Pair& pair, std::ostream* out) { *out << pair.name; }
};

const optimise::Options kA100{};
const optimise::Options kH100{.gpu = {.bytes_per_second = 3.352e12,
                                      .l2_bytes = 50 << 20,
                                      .sm_count = 132,
                                      .lanes_per_sm = 128,
                                      .clock_hz = 1.98e9,
                                      .capability = 90},
                              .bf16_capability = 90};
// As the driver has it for a TPU v3.
const optimise::Options kTpu{.target = optimise::Target::kTpu, .disabled = {"reduce-scatter"}};

std::string DataPath(const std::string& name) {
  return std::string(HESPAS_SOURCE_DIR) + "/tests/data/optimise/" + name;
}

class Agreement : public testing::TestWithParam<Pair> {
 protected:
  void SetUp() override {
    std::ifstream file(DataPath(GetParam().oracle));
    oracle_ = nlohmann::json::parse(file);
    Diagnostics diagnostics;
    const std::string program = std::string(HESPAS_SOURCE_DIR) + "/" + GetParam().program;
    auto module = read::ReadProgram(program, {}, diagnostics);
    ASSERT_TRUE(module) << Render(module.error());
    module_ = Optimised(std::move(*module), GetParam().options);
    summary_ = driver::Summarise(module_);
  }

  static double Ratio(double ours, const nlohmann::json& theirs) { return ours / theirs.get<double>(); }

  nlohmann::json oracle_;
  ir::Module module_;
  driver::Summary summary_;
};

// What differs is known pair by pair: a change in either direction has to be looked at, and the table be corrected.
TEST_P(Agreement, KernelsAndBytesDifferAsKnown) {
  const auto percent = [](double ratio) { return 100 * (ratio - 1); };
  const Difference& known = GetParam().known;
  EXPECT_NEAR(percent(Ratio(static_cast<double>(summary_.total()), oracle_["kernels"]["total"])), known.kernels, 0.5);
  EXPECT_NEAR(percent(Ratio(static_cast<double>(summary_.bytes_accessed), oracle_["bytes_accessed"])), known.bytes,
              0.5);
}

TEST_P(Agreement, FlopsWithinOnePercent) {
  if (oracle_["flops"] == 0) return;  // dots are written as convolutions there
  EXPECT_NEAR(Ratio(static_cast<double>(summary_.flops), oracle_["flops"]), 1, 0.01);
}

TEST_P(Agreement, CollectivesByKind) {
  ASSERT_EQ(summary_.collectives.size(), oracle_["collectives"].size());
  for (size_t i = 0; i < summary_.collectives.size(); ++i) {
    const nlohmann::json& theirs = oracle_["collectives"][i];
    EXPECT_EQ(summary_.collectives[i].op, theirs["op"].get<std::string>());
    EXPECT_NEAR(Ratio(static_cast<double>(summary_.collectives[i].count), theirs["count"]), 1, 0.10) << theirs["op"];
    EXPECT_NEAR(Ratio(static_cast<double>(summary_.collectives[i].bytes), theirs["bytes"]), 1, 0.05) << theirs["op"];
  }
}

// Kernels that move the same bytes, to 5 %, each counted once.
size_t Overlap(std::vector<int64_t> ours, std::vector<int64_t> theirs) {
  size_t found = 0;
  for (const int64_t bytes : ours) {
    const auto match = std::find_if(theirs.begin(), theirs.end(), [&](int64_t other) {
      return std::abs(static_cast<double>(bytes - other)) <= 0.05 * static_cast<double>(std::max(bytes, other));
    });
    if (match == theirs.end()) continue;
    theirs.erase(match);
    ++found;
  }
  return found;
}

std::vector<int64_t> TwentyLargest(const driver::Summary& summary) {
  std::vector<int64_t> bytes;
  for (const driver::KernelSummary& kernel : summary.kernels) bytes.push_back(kernel.bytes);
  std::sort(bytes.begin(), bytes.end(), std::greater<>());
  bytes.resize(std::min<size_t>(bytes.size(), 20));
  return bytes;
}

TEST_P(Agreement, TwentyLargestKernels) {
  EXPECT_EQ(Overlap(TwentyLargest(summary_), oracle_["largest"].get<std::vector<int64_t>>()), GetParam().known.largest);
}

// The rule of summarise_oracles.py, `family`.
class FamilyRule {
 public:
  FamilyRule(const ir::Module& module, const Llama& llama) : module_(module), llama_(llama) {}

  std::string operator()(ir::OpId kernel) {
    tokens_ = vocabulary_ = inner_ = attention_ = false;
    for (const ir::ValueId value : module_.operands(kernel)) See(module_.type_id(value));
    for (const ir::ValueId value : module_.results(kernel)) See(module_.type_id(value));
    return !tokens_ ? "optimiser" : vocabulary_ ? "embedding" : inner_ ? "mlp" : attention_ ? "attention" : "norm";
  }

 private:
  void See(ir::TypeId id) {
    const ir::Type& type = module_.types()[id];
    for (const ir::TypeId nested : type.nested) See(nested);
    if (!type.is_tensor() || ir::ElementText(type.element) == "i8") return;
    const auto wide = std::count_if(type.dims.begin(), type.dims.end(), [](int64_t d) { return d != 1; });
    if (wide < 2 && ir::ElementText(type.element) == "f32") return;  // the partial sums of anything
    for (const int64_t d : type.dims) {
      tokens_ = tokens_ || (d > 0 && d % llama_.tokens == 0);
      vocabulary_ = vocabulary_ || d == llama_.vocabulary;
      inner_ = inner_ || IsOneOf(d, {llama_.inner(), 2 * llama_.inner()});
      attention_ =
          attention_ || IsOneOf(d, {llama_.heads, llama_.head, llama_.width(), 2 * llama_.width(), 3 * llama_.width()});
    }
    attention_ = attention_ || type.element_count() % (llama_.tokens * llama_.tokens) == 0;
  }

  static bool IsOneOf(int64_t d, std::initializer_list<int64_t> sizes) {
    return std::find(sizes.begin(), sizes.end(), d) != sizes.end();
  }

  const ir::Module& module_;
  const Llama& llama_;
  bool tokens_, vocabulary_, inner_, attention_;
};

TEST_P(Agreement, SourceFamiliesWithinTwentyPercent) {
  // A recorded family is checked: a LLaMA has five, other programs none.
  ASSERT_EQ(oracle_["families"].size(), GetParam().llama ? 5u : 0u);
  if (!GetParam().llama) return;
  std::map<std::string, std::pair<int64_t, int64_t>> ours;
  FamilyRule family(module_, *GetParam().llama);
  for (const driver::KernelSummary& kernel : summary_.kernels) {
    auto& [count, bytes] = ours[family(kernel.op)];
    ++count;
    bytes += kernel.bytes;
  }
  for (const auto& [name, theirs] : oracle_["families"].items()) {
    EXPECT_NEAR(Ratio(static_cast<double>(ours[name].first), theirs["kernels"]), 1, 0.20) << name;
    EXPECT_NEAR(Ratio(static_cast<double>(ours[name].second), theirs["bytes"]), 1, 0.20) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(PublicPairs, Agreement,
                         testing::Values(Pair{"Llama100mA100",
                                              "examples/llama3-100m-4dev.mlir.gz",
                                              "llama3-100m-4dev.gpu_a100_sxm_40.json",
                                              kA100,
                                              Llama{9},
                                              {-0.3, -0.1, 20}},
                                         Pair{"Llama500mA100",
                                              "tests/data/optimise/llama3-500m-4dev.mlir.gz",
                                              "llama3-500m-4dev.gpu_a100_sxm_40.json",
                                              kA100,
                                              Llama{20},
                                              {-3.2, -0.2, 20}},
                                         Pair{"Llama1bA100",
                                              "data/workloads/llama3-1b-4dev.mlir.zst",
                                              "llama3-1b-4dev.gpu_a100_sxm_40.json",
                                              kA100,
                                              Llama{28},
                                              {-2.4, -0.2, 20}},
                                         Pair{"Llama100mH100",
                                              "examples/llama3-100m-4dev.mlir.gz",
                                              "llama3-100m-4dev.gpu_h100_sxm.json",
                                              kH100,
                                              Llama{9},
                                              {0.9, 3.2, 16}},
                                         Pair{"TensorParallelH100",
                                              "tests/data/optimise/transformer-768x10-4dev-fsdp2tp2.mlir.gz",
                                              "transformer-768x10-4dev-fsdp2tp2.gpu_h100_sxm.json",
                                              kH100,
                                              std::nullopt,
                                              {-0.3, 1.8, 19}},
                                         Pair{"ResNet18A100",
                                              "data/workloads/resnet18_train_step_4_devices_1024_batch.mlir.zst",
                                              "resnet18_train_step_4_devices_1024_batch.gpu_a100_sxm_40.json",
                                              kA100,
                                              std::nullopt,
                                              {-1.4, -1.5, 18}},
                                         Pair{"ResNet50A100",
                                              "data/workloads/resnet50_train_step_4_devices_1024_batch.mlir.zst",
                                              "resnet50_train_step_4_devices_1024_batch.gpu_a100_sxm_40.json",
                                              kA100,
                                              std::nullopt,
                                              {-3.2, 2.0, 18}},
                                         Pair{"Llama100mTpuV3",
                                              "tests/data/optimise/llama3-100m-8dev.mlir.gz",
                                              "llama3-100m-8dev.tpuv3.json",
                                              kTpu,
                                              Llama{9},
                                              {-2.9, 0.0, 20}}),
                         [](const auto& pair) { return std::string(pair.param.name); });

// Programs that the prototype had XLA optimise otherwise: all-gathers up to 30 MiB, reduce-scatters made too late to be
// combined, which a threshold of 0 stands for, matmuls as Triton kernels, nothing scheduled (docs/optimiser.md).
const std::vector<std::string> kPrototypesFlags{
    "--xla_gpu_all_gather_combine_threshold_bytes=31457280", "--xla_gpu_reduce_scatter_combine_threshold_bytes=0",
    "--xla_gpu_enable_triton_gemm=true", "--xla_gpu_enable_latency_hiding_scheduler=false"};

class OtherFlags : public testing::TestWithParam<const char*> {
 protected:
  static std::string Path(const std::string& ending) {
    return std::string(HESPAS_SOURCE_DIR) + "/data/workloads/llama3-" + GetParam() + "-4dev" + ending;
  }

  static driver::Summary Of(const std::string& ending, driver::OptimiseMode mode) {
    Diagnostics diagnostics;
    auto module = read::ReadProgram(Path(ending), {}, diagnostics);
    if (!module) return {};
    driver::OptimiseOptions options{.mode = mode};
    if (mode != driver::OptimiseMode::kNone) options.xla_flags = kPrototypesFlags;
    const auto device = hardware::LoadDevice("A100_SXM_40GB", diagnostics);
    auto optimised = driver::OptimiseModule(*module, options, *device, diagnostics);
    return optimised ? driver::Summarise(*optimised) : driver::Summary();
  }
};

TEST_P(OtherFlags, ProgramsAgree) {
  const driver::Summary theirs = Of("-opt.mlir.zst", driver::OptimiseMode::kNone);
  const driver::Summary ours = Of(".mlir.zst", driver::OptimiseMode::kXlaGpu);
  ASSERT_GT(theirs.total(), 0);
  ASSERT_EQ(ours.collectives.size(), theirs.collectives.size());
  for (size_t i = 0; i < ours.collectives.size(); ++i) {
    EXPECT_EQ(ours.collectives[i].op, theirs.collectives[i].op);
    EXPECT_EQ(ours.collectives[i].count, theirs.collectives[i].count) << ours.collectives[i].op;
    EXPECT_EQ(ours.collectives[i].bytes, theirs.collectives[i].bytes) << ours.collectives[i].op;
  }
  const auto ratio = [](auto a, auto b) { return static_cast<double>(a) / static_cast<double>(b); };
  EXPECT_EQ(ours.flops, theirs.flops);
  EXPECT_EQ(ours.library_calls, 0);
  EXPECT_NEAR(ratio(ours.total(), theirs.total()), 1, 0.10);
  EXPECT_NEAR(ratio(ours.bytes_accessed, theirs.bytes_accessed), 1, 0.02);
  EXPECT_EQ(Overlap(TwentyLargest(ours), TwentyLargest(theirs)), 20u);
}

TEST_P(OtherFlags, StepsAgree) {
  Diagnostics diagnostics;
  driver::RunOptions options{.program = {.path = Path(".mlir.zst")},
                             .device = {.name = "A100_SXM_40GB"},
                             .optimise = {.xla_flags = kPrototypesFlags}};
  const auto ours = driver::Run(options, diagnostics);
  const auto theirs =
      driver::Run({.program = {.path = Path("-opt.mlir.zst")}, .device = {.name = "A100_SXM_40GB"}}, diagnostics);
  ASSERT_TRUE(ours && theirs);
  EXPECT_NEAR(ours->step_time.seconds() / theirs->step_time.seconds(), 1, 0.02);
}

INSTANTIATE_TEST_SUITE_P(PublicPairs, OtherFlags, testing::Values("100m", "200m", "500m"));

struct Steps {
  const char* name;
  const char* program;
  const char* optimised;
  const char* device;
};

class Step : public testing::TestWithParam<Steps> {
 protected:
  static result::RunResult Run(const std::string& program) {
    Diagnostics diagnostics;
    auto result = driver::Run({.program = std::string(HESPAS_SOURCE_DIR) + "/" + program, .device = GetParam().device},
                              diagnostics);
    if (!result) ADD_FAILURE() << program << " does not run";
    return result ? *std::move(result) : result::RunResult();
  }
};

// Time and exposed communication, with the same models; XLA's schedule is in its text.
TEST_P(Step, AgreesWithThatOfXlasProgram) {
  const result::RunResult ours = Run(GetParam().program);
  const result::RunResult theirs = Run(GetParam().optimised);
  const double step = theirs.step_time.seconds();
  EXPECT_NEAR(ours.step_time.seconds(), step, 0.05 * step);
  EXPECT_NEAR(ours.exposed_communication.seconds(), theirs.exposed_communication.seconds(), 0.01 * step);
  EXPECT_NEAR(static_cast<double>(ours.peak_memory->value), static_cast<double>(theirs.peak_memory->value),
              0.10 * static_cast<double>(theirs.peak_memory->value));
}

INSTANTIATE_TEST_SUITE_P(PublicPairs, Step,
                         testing::Values(Steps{"Llama100mA100", "examples/llama3-100m-4dev.mlir.gz",
                                               "tests/data/optimise/llama3-100m-4dev.gpu_a100_sxm_40.hlo.gz",
                                               "A100_SXM_40GB"},
                                         Steps{"Llama100mTpuV3", "tests/data/optimise/llama3-100m-8dev.mlir.gz",
                                               "tests/data/optimise/llama3-100m-8dev.tpuv3.hlo.gz", "TPUv3"}),
                         [](const auto& pair) { return std::string(pair.param.name); });

}  // namespace
}  // namespace hespas
