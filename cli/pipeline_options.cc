#include "cli/pipeline_options.h"

#include "split/separator.h"

namespace hespas::cli {
namespace {

// Also the prototype's spellings ("is_reduce_op").
CLI::Validator IsSeparator() {
  return CLI::Validator(
      [](const std::string& name) {
        if (split::SeparatorByName(name)) return std::string();
        return OneOf({"communication", "convolution", "dot_general", "reduce", "return"})(
            const_cast<std::string&>(name));
      },
      "");
}

}  // namespace

CLI::Option* AddProgramOption(CLI::App& command, driver::RunOptions& options) {
  return command
      .add_option("PROGRAM", options.program,
                  "StableHLO or HLO program: text or bytecode, also .gz or .zst; - is stdin")
      ->required();
}

void AddSplitOptions(CLI::App& command, driver::RunOptions& options) {
  command
      .add_option("--split", options.split,
                  "how blocks are cut: auto, linear, individual (one operation each), or fusion (where the loops of "
                  "XLA's CPU compiler end)")
      ->check(OneOf({"auto", "linear", "individual", "fusion"}));
  command.add_flag("--merge,!--no-merge", options.merge, "merge neighbouring blocks where that delays no collective");
  command.add_option("--block-lim", options.block_limit, "most operations of one block (linear)")->check(Positive());
  command
      .add_option("--separator", options.separator,
                  "what ends a block (linear): communication, convolution, dot_general, reduce or return")
      ->check(IsSeparator());
  command
      .add_option("--separator-policy", options.separator_policy,
                  "where a separating op goes: ISOLATED in a block of its own, END_BLOCK or START_BLOCK")
      ->check(OneOf({"ISOLATED", "END_BLOCK", "START_BLOCK"}));
  command
      .add_option("--separator-node-type", options.separator_node_type,
                  "what an isolated separating op is: COMM_COLL_NODE or COMP_NODE")
      ->check(OneOf({"COMM_COLL_NODE", "COMP_NODE"}));
}

CLI::Validator IsOptimisation() { return OneOf({"auto", "none", "xla-gpu", "xla-tpu", "xla-cpu", "xla"}); }

void AddToolOptions(CLI::App& command, driver::RunOptions& options) {
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

void AddModelOptions(CLI::App& command, driver::RunOptions& options) {
  command
      .add_option("--fallback", options.fallback,
                  "model for operations that --estimator cannot cost: calibrated or roofline")
      ->check(OneOf({"calibrated", "roofline"}));
  AddToolOptions(command, options);
  AddProfileOptions(command, options.profile);
  command.add_option("--dataflow", options.dataflow, "what stays in scalesim's array: ws (weights) or os (outputs)")
      ->check(OneOf({"ws", "os"}));
  command
      .add_option("--set", options.changes,
                  "change a figure of the device or network: device.memory_bandwidth=2x, device.launch_time=0, "
                  "system.bandwidth=\"50 GB/s\"")
      ->allow_extra_args(false);
  command.add_flag("--flash-attention", options.flash_attention,
                   "attention scores never leave the chip, as a fused attention kernel keeps them");
  command.add_option("--cache", options.cache,
                     "where estimates are kept: a file, memory (equal blocks of this run) or none");
  command
      .add_option_function<std::string>(
          "--compat", [&options](const std::string&) { options.compat = true; },
          "prototype: the Python prototype's choices and defects, for comparison")
      ->check(OneOf({"prototype"}));
  command.add_flag("--strict", options.strict, "an operation without a cost rule is an error");
}

void AddProfileOptions(CLI::App& command, estimate::ProfileOptions& profile) {
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
  command
      .add_option(
          "--xla-flag", flags,
          "--xla-flag=--FLAG=N: flag of XLA's GPU compiler that the optimiser follows (which: `hespas explain E0919`)")
      ->allow_extra_args(false);
}

void AddEstimateOptions(CLI::App& command, driver::RunOptions& options) {
  command.add_option("--device", options.device, "accelerator: a preset (`hespas devices`) or a JSON file");
  command.add_option("--estimator", options.estimator,
                     "model that costs each block: calibrated, roofline, systolic, scalesim, genz, cocossim, onnxim, "
                     "pjrt, xla, iree or "
                     "exec:PATH");
  command
      .add_option("--optimise", options.optimise,
                  "what XLA would do first: auto (unless already optimised), none, xla-gpu, xla-tpu, xla-cpu or xla")
      ->check(IsOptimisation());
  AddXlaFlagOption(command, options.xla_flags);
  AddModelOptions(command, options);
}

void AddOutputOption(CLI::App& command, driver::RunOptions& options, const std::string& description) {
  command.add_option("--output", options.output, description);
  command.add_flag("--clean", options.clean, "empty the output folder first");
}

void AddTraceFileOptions(CLI::App& command, report::TraceFiles& form) {
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
  command.add_option("--network-backend", options.network_backend, "analytical, analytical-aware, simgrid or none")
      ->check(OneOf({"analytical", "analytical-aware", "simgrid", "none"}));
}

void AddNetworkOptions(CLI::App& command, driver::RunOptions& options) {
  command.add_option("--system", options.system, "network: a preset (`hespas systems`), a folder or a JSON file");
  AddBackendOption(command, options);
}

void AddTraceOptions(CLI::App& command, driver::RunOptions& options) {
  command.add_option("--num-npus", options.num_npus, "NPUs; by default what the program's replica groups imply")
      ->check(Positive());
}

}  // namespace hespas::cli
