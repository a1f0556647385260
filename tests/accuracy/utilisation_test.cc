// No kernel of any program in the tree is faster than its arithmetic at the peak rates of any device. As read, and as
// each of our optimisers leaves it. (Traffic above the memory's bandwidth comes from caches:
// driver/figures/utilisation.h.)
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <unordered_set>

#include "estimate/arithmetic.h"
#include "estimate/composite.h"
#include "estimate/registry.h"
#include "hardware/presets.h"
#include "ir/walk.h"
#include "optimise/optimise.h"
#include "read/read.h"
#include "split/structure_hash.h"

namespace hespas::estimate {
namespace {

namespace fs = std::filesystem;

constexpr double kSlack = 1e-12;  // estimates are whole picoseconds
constexpr double kRounding = 1e-9;

struct Modelled {
  hardware::Device device;
  calibrated::Machine machine;
  std::vector<std::unique_ptr<Estimator>> estimators;
};

const std::vector<Modelled>& Devices() {
  static const std::vector<Modelled> all = [] {
    std::vector<Modelled> made;
    for (const std::string& name : hardware::PresetNames(hardware::PresetKind::kDevice)) {
      Diagnostics diagnostics;
      hardware::Device device = *hardware::LoadDevice(name, diagnostics);
      Modelled one{.device = device, .machine = calibrated::MakeMachine(device), .estimators = {}};
      for (const char* estimator : {"calibrated", "roofline"}) {
        one.estimators.push_back(*MakeEstimator(estimator, device, {}));
      }
      made.push_back(std::move(one));
    }
    return made;
  }();
  return all;
}

std::vector<std::string> Programs(const std::vector<std::string>& roots) {
  std::vector<std::string> files;
  for (const std::string& root : roots) {
    for (const auto& entry : fs::recursive_directory_iterator(root)) {
      const std::string name = entry.path().filename().string();
      const bool program = name.find(".mlir") != std::string::npos || name.find(".hlo") != std::string::npos;
      if (entry.is_regular_file() && program) files.push_back(entry.path().string());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

// Distinct kernels of all programs so far: equal ones are looked at once.
class Kernels {
 public:
  void Check(const ir::Module& module, const std::string& program) {
    split::StructureHasher hasher(module, false);
    ir::WalkNested(module, module.root(), [&](ir::OpId op) {
      const ir::OpSort sort = ir::Traits(module.kind(op)).sort;
      if (IsCompositeOp(module, op) || sort == ir::OpSort::kStructure || sort == ir::OpSort::kTerminator) return;
      const ir::OpId ops[] = {op};
      if (!seen_.insert(hasher.Block(ops)).second) return;
      const std::vector<Arithmetic> arithmetic = ArithmeticOf(module, op);
      for (const Modelled& on : Devices()) CheckOn(on, module, op, arithmetic, program);
    });
  }

  size_t count() const { return seen_.size(); }

 private:
  static void CheckOn(const Modelled& on, const ir::Module& module, ir::OpId op,
                      const std::vector<Arithmetic>& arithmetic, const std::string& program) {
    // No time is longer than 2^63 ps, 107 days: that is where a longer one ends.
    const double peak = std::min(SecondsOn(on.machine, arithmetic), 0x1p63 * 1e-12);
    for (const auto& estimator : on.estimators) {
      Notes notes;
      const graph::Estimate estimate = estimator->EstimateOp(module, op, notes);
      const double seconds = estimate.time.seconds() * (1 + kRounding) + kSlack;
      EXPECT_GE(seconds, peak) << program << ' ' << module.name(op) << " on " << on.device.name << " by "
                               << estimator->name();
    }
  }

  std::unordered_set<Hash128> seen_;
};

// What each optimiser of ours makes of a program.
void CheckOptimised(ir::Module& module, const std::string& program, Kernels& kernels) {
  using optimise::Target;
  const optimise::Options ways[] = {{},
                                    {.flags = {.triton_matmuls = true}},
                                    {.gpu = {.capability = 90}, .bf16_capability = 90},
                                    {.target = Target::kTpu},
                                    {.target = Target::kCpu}};
  for (const optimise::Options& options : ways) {
    const auto optimised = optimise::OptimiseAgain(module, options);
    if (optimised) kernels.Check(*optimised, program);
  }
}

size_t CheckAll(const std::vector<std::string>& files) {
  Kernels kernels;
  for (const std::string& file : files) {
    Diagnostics diagnostics;
    auto module = read::ReadProgram(file, {}, diagnostics);
    if (!module) continue;  // invalid by design
    kernels.Check(*module, file);
    if (module->main().valid() && !optimise::IsOptimised(*module)) CheckOptimised(*module, file, kernels);
    if (testing::Test::HasFailure()) break;
  }
  return kernels.count();
}

TEST(Utilisation, IsAtMostAWholeInEveryWorkloadOnEveryDevice) {
  const std::string root = HESPAS_SOURCE_DIR;
  EXPECT_GT(CheckAll(Programs({root + "/data/workloads", root + "/examples", root + "/tests/data"})), 5000U);
}

TEST(Utilisation, IsAtMostAWholeInTheCorpusOnEveryDevice) { EXPECT_GT(CheckAll(Programs({HESPAS_CORPUS})), 3000U); }

TEST(Utilisation, IsAtMostAWholeInWhatFuzzersFound) {
  const std::string corpus = HESPAS_SOURCE_DIR "/fuzz/corpus";
  std::vector<std::string> files;
  for (const char* folder : {"/stablehlo", "/hlo", "/bytecode", "/optimise"}) {
    for (const auto& entry : fs::directory_iterator(corpus + folder)) files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  EXPECT_GT(CheckAll(files), 50U);
}

}  // namespace
}  // namespace hespas::estimate
