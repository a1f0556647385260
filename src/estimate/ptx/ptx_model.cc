#include "estimate/ptx/ptx_model.h"

#include <fmt/format.h>

#include <map>
#include <mutex>

#include "estimate/ptx/iree_program.h"

namespace hespas::estimate::ptx {
namespace {

OpTime Sum(const std::vector<KernelTime>& kernels) {
  OpTime sum;
  for (const KernelTime& kernel : kernels) {
    sum.seconds += kernel.seconds;
    sum.compute_seconds += kernel.compute_seconds;
    sum.memory_seconds += kernel.memory_seconds;
  }
  return sum;
}

class PtxModel : public OpModel {
 public:
  explicit PtxModel(KernelCoster coster) : coster_(std::move(coster)) {}

  std::string_view name() const override { return "ptx"; }
  std::string Fingerprint() const override { return coster_.Fingerprint(); }

  Result<std::optional<OpTime>> Cost(const ir::Module& module, ir::OpId op) const override {
    return CostProgram(IreeProgram(module, op));
  }

  Result<std::optional<OpTime>> CostBlock(const ir::Module& module, const graph::Block& block) const override {
    return CostProgram(IreeProgram(module, block));
  }

 private:
  Result<std::optional<OpTime>> CostProgram(const std::optional<std::string>& program) const {
    if (!program) return std::optional<OpTime>();
    const std::lock_guard lock(mutex_);
    auto known = times_.find(*program);
    if (known == times_.end()) {
      const auto kernels = coster_.Cost(*program);
      known = times_.emplace(*program, kernels ? Result<OpTime>(Sum(*kernels)) : Result<OpTime>(kernels.error())).first;
    }
    if (!known->second) return known->second.error();
    return std::optional(*known->second);
  }

  KernelCoster coster_;
  mutable std::mutex mutex_;
  mutable std::map<std::string, Result<OpTime>> times_;  // by program
};

}  // namespace

Result<KernelCoster> KernelCoster::Make(const hardware::Device& device, const PtxOptions& options) {
  if (Status fit = CheckDevice(device); !fit) return fit.error();
  KernelCoster made;
  auto compiler = FindCompiler(options.compiler, options.limit);
  if (!compiler) return compiler.error();
  if (!options.kernel_simulator.empty()) {
    auto simulator = FindKernelSimulator(options.kernel_simulator, options.limit);
    if (!simulator) return simulator.error();
    made.simulator_ = *std::move(simulator);
  }
  made.device_ = device;
  made.compiler_ = *std::move(compiler);
  made.target_ = TargetOf(device);
  made.clock_hz_ = options.clock_hz.value_or(*device.clock_hz);
  return made;
}

std::string KernelCoster::Fingerprint() const {
  const hardware::Device& d = device_;
  return fmt::format("ptx 1|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}|{}", compiler_.version, target_,
                     simulator_.digest, clock_hz_, d.architecture, *d.sm_count, *d.clock_hz, d.lanes_per_sm.value_or(0),
                     d.schedulers_per_sm.value_or(0), d.special_lanes_per_sm.value_or(0),
                     d.shared_memory_per_sm ? d.shared_memory_per_sm->value : 0, d.memory_bandwidth.value,
                     d.l2_bandwidth ? d.l2_bandwidth->value : 0, d.MatrixRateFor("bf16").value, d.RateFor("f64").value);
}

Result<KernelTime> KernelCoster::CostCommand(const Command& command) const {
  if (!command.work) return TransferTime(command.name, command.transferred_bytes, device_);
  auto time = TimeOf(*command.work, device_);
  if (!time || simulator_.path.empty()) return time;
  const auto cycles = SimulateCycles(simulator_, command.ptx, *time, target_, command.work->buffer_bytes.value_or(0));
  if (!cycles) return cycles.error();
  time->seconds = time->compute_seconds = *cycles / clock_hz_;
  time->bound = "simulated";
  return time;
}

Result<std::vector<KernelTime>> KernelCoster::Cost(const std::string& program) const {
  const auto commands = Compile(compiler_, program, target_);
  if (!commands) return commands.error();
  std::vector<KernelTime> times;
  for (const Command& command : *commands) {
    auto time = CostCommand(command);
    if (!time) return time.error();
    times.push_back(*std::move(time));
  }
  return times;
}

Result<std::unique_ptr<OpModel>> MakePtx(const hardware::Device& device, const PtxOptions& options) {
  auto coster = KernelCoster::Make(device, options);
  if (!coster) return coster.error();
  return std::unique_ptr<OpModel>(std::make_unique<PtxModel>(*std::move(coster)));
}

}  // namespace hespas::estimate::ptx
