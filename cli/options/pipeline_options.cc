#include "cli/options/pipeline_options.h"

#include <fmt/format.h>

namespace hespas::cli {
namespace {

// Also the prototype's spellings ("is_reduce_op").
CLI::Validator IsSeparator() {
  return CLI::Validator(
      [](const std::string& name) {
        if (split::SeparatorByName(name)) return std::string();
        return OneOf(driver::TextsOf<split::Separator>())(const_cast<std::string&>(name));
      },
      "");
}

}  // namespace

CLI::Option* AddTextOption(CLI::App& command, const std::string& name,
                           const std::function<void(const std::string&)>& take,
                           const std::function<std::string()>& standard, const std::string& description) {
  CLI::Option* option = command.add_option_function<std::string>(name, take, description);
  return option->default_function(standard);
}

CLI::Option* AddProgramOption(CLI::App& command, driver::RunOptions& options) {
  const OptionGroup group(command, "Program");
  command
      .add_option("--bind", options.program.bind,
                  "size of a symbolic dimension: b=8, or 0.1=128 for argument 0, dimension 1")
      ->delimiter(',');
  command.add_flag("!--no-partition", options.program.partition,
                   "refuse a global program instead of letting XLA's partitioner divide it");
  return command
      .add_option("PROGRAM", options.program.path,
                  "StableHLO or HLO program: text or bytecode, also .gz or .zst; - is stdin")
      ->required();
}

void AddSplitOptions(CLI::App& command, driver::RunOptions& options) {
  const OptionGroup group(command, "Blocks");
  driver::SplitOptions& split = options.split;
  AddWordOption(command, "--split", split.strategy,
                "how blocks are cut: auto, linear, individual (one operation each), or fusion (where the loops of "
                "XLA's CPU compiler end)");
  command.add_flag("--merge,!--no-merge", split.merge, "merge neighbouring blocks where that delays no collective");
  command.add_option("--block-lim", split.block_limit, "most operations of one block (linear)")->check(Positive());
  AddTextOption(
      command, "--separator", [&split](const std::string& name) { split.separator = *split::SeparatorByName(name); },
      [&split] { return std::string(driver::TextOf(split.separator)); },
      "what ends a block (linear): communication, convolution, dot_general, reduce or return")
      ->check(IsSeparator());
  AddWordOption(command, "--separator-policy", split.policy,
                "where a separating op goes: ISOLATED in a block of its own, END_BLOCK or START_BLOCK");
  AddWordOption(command, "--separator-node-type", split.separator_kind,
                "what an isolated separating op is: COMM_COLL_NODE or COMP_NODE");
}

CLI::Validator IsOptimisation() { return OneOf(driver::TextsOf<driver::OptimiseMode>()); }

void AddToolOptions(CLI::App& command, estimate::EstimatorOptions& options) {
  const OptionGroup group(command, "External tools");
  command.add_option("--tool-path", options.tool_path, "external simulator to run; by default found in PATH");
  command.add_option("--tool-config", options.tool_config, "the external simulator's description of the hardware");
  command.add_option("--tool-mapping", options.tool_mapping, "of zigzag_onnx: how operations lie on the array");
  command.add_option("--tool-clock", options.tool_clock_hz, "clock of the simulated hardware in Hz")->check(Positive());
  command.add_option("--tool-chips", options.tool_chips, "chips that cocossim simulates")->check(Positive());
  command.add_option("--tool-timeout", options.tool_limit_s, "seconds that one answer of an external tool may take")
      ->check(Positive());
  command.add_option("--kernel-simulator", options.kernel_simulator,
                     "of ptx: a program that simulates single kernels, given PTX and launch");
}

void AddPriceOption(CLI::App& command, std::optional<Price>& price) {
  const OptionGroup group(command, "Output");
  command.add_option_function<std::string>(
      "--price",
      [&price](const std::string& text) {
        const Result<Price> read = ParsePrice(text);
        if (!read)
          throw CLI::ValidationError("--price", fmt::format("{}: {}", read.error().message, read.error().help));
        price = *read;
      },
      "of one device and hour, as 2.5 or \"2.5 EUR\"; by default the device file's price_per_hour");
}

void AddModelOptions(CLI::App& command, driver::RunOptions& options) {
  const OptionGroup group(command, "Device and estimator");
  driver::EstimateOptions& estimate = options.estimate;
  AddPriceOption(command, options.device.price);
  command
      .add_option("--fallback", estimate.settings.fallback,
                  "model for operations that --estimator cannot cost: calibrated or roofline")
      ->check(OneOf({"calibrated", "roofline"}));
  AddToolOptions(command, estimate.settings);
  AddProfileOptions(command, estimate.settings.profile);
  AddWordOption(command, "--dataflow", estimate.settings.dataflow,
                "what stays in scalesim's array: ws (weights) or os (outputs)");
  command
      .add_option("--set", options.changes,
                  "change a figure of the device or network: device.memory_bandwidth=2x, device.launch_time=0, "
                  "system.bandwidth=\"50 GB/s\"")
      ->allow_extra_args(false);
  command.add_flag("--keep-kernels", options.optimise.keep_kernels,
                   "with --set: fusions and schedule stay those of the unchanged device");
  command.add_flag("--flash-attention", estimate.flash_attention,
                   "attention scores never leave the chip, as a fused attention kernel keeps them");
  AddTextOption(
      command, "--cache", [&estimate](const std::string& text) { estimate.cache = driver::ParseCache(text); },
      [&estimate] { return driver::TextOf(estimate.cache); },
      "where estimates are kept: a file, memory (equal blocks of this run) or none");
  command
      .add_option_function<std::string>(
          "--compat", [&options](const std::string&) { options.compat = true; },
          "prototype: the Python prototype's choices and defects, for comparison")
      ->check(OneOf({"prototype"}));
  command.add_flag("--strict", estimate.strict, "an operation without a cost rule is an error");
}

void AddProfileOptions(CLI::App& command, estimate::ProfileOptions& profile) {
  const OptionGroup group(command, "Measuring estimators");
  command.add_option("--plugin", profile.plugin,
                     "of pjrt: the PJRT plugin, a shared library; by default found in the active Python environment");
  command.add_flag("--cold,!--warm", profile.cold, "of pjrt: clear the device's caches before each run");
  command
      .add_option("--at-once", profile.at_once,
                  "of pjrt: devices that run each block at the same time, as those of a program share this machine")
      ->check(CLI::Range(1, 127));
  command
      .add_option("--sample", profile.sample,
                  "measure so many blocks of each family, and scale the others; 0: measure all")
      ->check(NonNegative());
  command.add_option("--budget", profile.budget_s, "seconds (60, 60s or 2m) after which no further block is measured")
      ->transform(CLI::AsNumberWithUnit(std::map<std::string, double>{{"s", 1}, {"m", 60}, {"h", 3600}},
                                        CLI::AsNumberWithUnit::CASE_SENSITIVE, "SECONDS"))
      ->check(Positive());
  command.add_option("--jobs", profile.jobs, "programs that are compiled at a time; by default one a core, at most 4")
      ->check(Positive());
  command.add_option("--block-compiler", profile.compiler,
                     "of xla: xla-translate; of iree: iree-compile; by default found in PATH");
  command.add_option("--block-runner", profile.runner,
                     "of xla: hlo_runner_main; of iree: iree-benchmark-module; by default found in PATH");
  command.add_option("--iree-backend", profile.target_backend, "what iree-compile compiles for");
  command.add_option("--iree-device", profile.target_device, "what iree-benchmark-module runs on");
  command.add_option("--iree-compile-arg", profile.compile_arguments, "further argument for iree-compile")
      ->allow_extra_args(false);
  command.add_option("--iree-run-arg", profile.run_arguments, "further argument of iree-benchmark-module")
      ->allow_extra_args(false);
  command
      .add_option("--clock,--iree-clock", profile.clock,
                  "of pjrt and iree, time to count: wall, or processor time (cpu)")
      ->check(OneOf({"wall", "cpu"}));
  command.add_option("--tool-memory", profile.memory_gib, "GiB of memory that a measuring process may use")
      ->check(Positive());
}

void AddXlaFlagOption(CLI::App& command, std::vector<std::string>& flags) {
  const OptionGroup group(command, "Optimiser");
  command
      .add_option(
          "--xla-flag", flags,
          "--xla-flag=--FLAG=N: flag of XLA's GPU compiler that the optimiser follows (which: `hespas explain E0919`)")
      ->allow_extra_args(false);
}

void AddScheduleLimitOption(CLI::App& command, bool& limit) {
  const OptionGroup group(command, "Optimiser");
  command.add_flag("--schedule-limit", limit,
                   "a program that does not fit gets XLA's schedule under the device's memory limit, with next to no "
                   "overlap; otherwise that of a device with enough memory");
}

void AddEstimateOptions(CLI::App& command, driver::RunOptions& options) {
  const OptionGroup group(command, "Device and estimator");
  command.add_option("--device", options.device.name, "accelerator: a preset (`hespas devices`) or a JSON file");
  command.add_option("--estimator", options.estimate.estimator,
                     "model that costs each block: calibrated, roofline, systolic, scalesim, genz, cocossim, onnxim, "
                     "pjrt, xla, iree or "
                     "exec:PATH");
  AddWordOption(command, "--optimise", options.optimise.mode,
                "what XLA would do first: auto (unless already optimised), none, xla-gpu, xla-tpu, xla-cpu or xla");
  AddXlaFlagOption(command, options.optimise.xla_flags);
  AddScheduleLimitOption(command, options.optimise.schedule_limit);
  AddModelOptions(command, options);
}

void AddOutputOption(CLI::App& command, driver::RunOptions& options, const std::string& description) {
  const OptionGroup group(command, "Output");
  command.add_option("--output", options.output.folder, description);
  command.add_flag("--clean", options.output.clean, "empty the output folder first");
}

void AddTraceFileOptions(CLI::App& command, report::TraceFiles& form) {
  const OptionGroup group(command, "Output");
  CLI::Option* expand = command.add_flag_callback(
      "--expand", [&form] { form = report::TraceFiles::kCopies; },
      "a trace file of its own for every NPU, instead of hard links");
  command
      .add_flag_callback(
          "--rank-classes", [&form] { form = report::TraceFiles::kClasses; },
          "one trace for all NPUs whose traces differ in groups and peers alone, with a manifest (dev.ranks.json); "
          "the default where more than 64 files would differ")
      ->excludes(expand);
}

void AddBackendOption(CLI::App& command, driver::RunOptions& options) {
  const OptionGroup group(command, "Network");
  AddWordOption(command, "--network-backend", options.network.backend,
                "analytical, analytical-aware, simgrid, sst or none");
}

void AddConcurrencyOptions(CLI::App& command, network::Concurrency& concurrency) {
  command.add_option(
      "--collective-sms", concurrency.sms,
      "multiprocessors that a collective takes from kernels beside it: 1 for each of NCCL's channels (16 "
      "for NVLS on Hopper, 32 on Blackwell; up to 32 for rings); 0: kernels are not slowed");
  command.add_option("--collective-memory", concurrency.memory_passes,
                     "how often each byte that a device sends or receives passes its memory, whose bandwidth kernels "
                     "beside the collective lose: 2 at least (read and written once); 0: kernels are not slowed");
  AddWordOption(command, "--collective-streams", concurrency.streams,
                "one: collectives of a device queue, as XLA's do; group: those of different groups run at the same "
                "time and share links, as NCCL's communicators do");
}

void AddNetworkOptions(CLI::App& command, driver::RunOptions& options) {
  const OptionGroup group(command, "Network");
  command.add_option("--system", options.system.name, "network: a preset (`hespas systems`), a folder or a JSON file");
  AddBackendOption(command, options);
}

void AddTraceOptions(CLI::App& command, driver::RunOptions& options) {
  const OptionGroup group(command, "Network");
  command.add_option("--num-npus", options.system.num_npus, "NPUs; by default what the program's replica groups imply")
      ->check(Positive());
}

void AddAssumptionOptions(CLI::App& command, driver::Assumptions& assumptions) {
  const OptionGroup group(command, "Program");
  command.add_option("--trip-count", assumptions.trip_count, "iterations of loops whose number is not in the program")
      ->check(NonNegative());
  command
      .add_option(
          "--branch-probabilities", assumptions.branch_probabilities,
          "how often each branch of a case or if is taken, as 0.9,0.1; otherwise the most expensive branch counts")
      ->delimiter(',');
  command.add_option("--moe-imbalance", assumptions.moe_imbalance,
                     "load of the busiest device over the mean, for experts' ragged matmuls and all-to-alls");
  command
      .add_option("--cost", assumptions.kernel_costs,
                  "work of a custom kernel, as NAME=flops:2e12,bytes:300MB, or a JSON file of such; repeatable")
      ->allow_extra_args(false);
  command
      .add_option("--retarget", assumptions.devices,
                  "convert the program to that many devices along its data-parallel or FSDP axis")
      ->check(Positive());
}

void AddCollectiveOptions(CLI::App& command, driver::NetworkOptions& network) {
  const OptionGroup group(command, "Network");
  AddWordOption(command, "--network-model", network.model,
                "times of collectives: calibrated (fitted to measured ones), plain (ASTRA-sim's formulas), or auto: "
                "calibrated with --estimator calibrated");
  AddWordOption(
      command, "--overlap", network.overlap,
      "what communication overlaps with: program (its dependencies decide) or perfect (nothing waits for it)");
}

}  // namespace hespas::cli
