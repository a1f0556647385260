// The stages one by one, as Run and the single-stage commands call them.
#include <fmt/format.h>

#include <algorithm>

#include "assemble/assemble.h"
#include "base/content.h"
#include "driver/configuration/changes.h"
#include "driver/configuration/presets.h"
#include "driver/configuration/stragglers.h"
#include "driver/figures/op_summaries.h"
#include "driver/pipeline/optimise_stage.h"
#include "driver/pipeline/run.h"
#include "driver/what_if/flash_attention.h"
#include "driver/what_if/overlap.h"
#include "engines/simgrid_run.h"
#include "estimate/cache/sqlite_cache.h"
#include "estimate/estimate_all.h"
#include "estimate/registry.h"
#include "hardware/presets.h"
#include "ir/facts/shardings.h"
#include "read/read.h"
#include "simulate/simulate.h"
#include "split/split.h"

namespace hespas::driver {
namespace {

// Moves a Result's value out, or reports its error once.
template <class T>
std::optional<T> Take(Result<T> result, Diagnostics& diagnostics) {
  if (result) return std::move(*result);
  if (!diagnostics.has_errors()) diagnostics.Report(result.error());
  return std::nullopt;
}

split::Options SplitOptions(const RunOptions& options) {
  // Analytic estimators cost ops one by one; only profiling ones need blocks to compile.
  const bool large = options.compat || estimate::Measures(options.estimator);
  const bool linear = options.split == "linear" || (large && options.split == "auto");
  split::Options out{.strategy = linear ? split::Strategy::kLinear : split::Strategy::kIndividual,
                     .merge = options.merge,
                     .block_limit = options.block_limit,
                     .loop_window = options.loop_window,
                     .compat = options.compat};
  out.separator = split::SeparatorByName(options.separator).value_or(out.separator);
  out.policy = split::PolicyByName(options.separator_policy).value_or(out.policy);
  if (options.separator_node_type == "COMP_NODE") out.separator_kind = graph::BlockKind::kCompute;
  return out;
}

}  // namespace

std::shared_ptr<const estimate::Estimator> EstimatorOf(const RunOptions& options, const hardware::Device& device,
                                                       std::shared_ptr<const estimate::Facts> facts,
                                                       Diagnostics& diagnostics) {
  if (options.custom_estimator) return options.custom_estimator;
  // The prototype knows no other analytic estimator.
  const std::string name = options.compat ? "roofline" : options.estimator;
  auto made = Take(estimate::MakeEstimator(name, device,
                                           {.compat = options.compat,
                                            .fallback = options.fallback,
                                            .dataflow = options.dataflow,
                                            .tool_path = options.tool_path,
                                            .tool_config = options.tool_config,
                                            .tool_mapping = options.tool_mapping,
                                            .tool_clock_hz = options.tool_clock_hz,
                                            .tool_chips = options.tool_chips,
                                            .tool_limit_s = options.tool_limit_s,
                                            .profile = options.profile,
                                            .kernel_simulator = options.kernel_simulator,
                                            .facts = std::move(facts)}),
                   diagnostics);
  return made ? std::shared_ptr<const estimate::Estimator>(std::move(*made)) : nullptr;
}

namespace {

// A system file for one node of devices behind their own interconnect; empty where the device describes none that joins
// so many. A switch gets the bandwidth of all ports; in a mesh it is shared by the links to each peer.
std::string NodeText(const hardware::Device& device, size_t npus) {
  if (!device.interconnect || device.interconnect->bandwidth.value <= 0) return {};
  const hardware::Interconnect& ports = *device.interconnect;
  if (ports.domain_size && static_cast<size_t>(*ports.domain_size) < npus) return {};
  const bool mesh = ports.topology == "mesh";
  const bool ring = ports.topology == "ring" || ports.topology == "torus";
  const double links = mesh ? static_cast<double>(npus - 1) : 1.0;
  constexpr double kLinkUnit = 1024.0 * 1024.0 * 1024.0;  // ASTRA-sim's GB
  const double latency_ns = ports.latency ? ports.latency->seconds() * 1e9 : 1000.0;
  constexpr std::string_view kNode = R"({{
  "name": "node of {}",
  "network": {{"topology": ["{}"], "npus_count": [{}], "bandwidth": [{}], "latency": [{}]}},
  "system": {{"scheduling-policy": "LIFO", "endpoint-delay": 1, "active-chunks-per-dimension": 1,
    "preferred-dataset-splits": 1, "collective-optimization": "localBWAware", "local-mem-bw": {},
    "all-reduce-implementation": ["{}"], "all-gather-implementation": ["{}"],
    "reduce-scatter-implementation": ["{}"], "all-to-all-implementation": ["{}"]}},
  "remote_memory": {{"memory-type": "NO_MEMORY_EXPANSION"}}
}})";
  const char* algorithm = mesh ? "direct" : "ring";
  return fmt::format(kNode, npus, mesh ? "FullyConnected" : (ring ? "Ring" : "Switch"), npus,
                     ports.bandwidth.value / links / kLinkUnit, latency_ns, device.memory_bandwidth.value / 1e9,
                     algorithm, algorithm, algorithm, algorithm);
}

}  // namespace

std::optional<hardware::Device> DeviceOf(const RunOptions& options, Diagnostics& diagnostics) {
  const auto edition = options.compat ? hardware::PresetEdition::kPrototype : hardware::PresetEdition::kCurrent;
  auto device = hardware::LoadDevice(options.device, diagnostics, edition);
  if (device) hardware::ApplyFigures(options.figures, *device);
  return device;
}

std::optional<ir::Module> ReadModule(const std::string& path, std::string* sha256, Diagnostics& diagnostics) {
  auto raw = Take(ReadContent(path), diagnostics);
  if (!raw) return std::nullopt;
  return ReadModule(path, *std::move(raw), sha256, diagnostics);
}

std::optional<ir::Module> ReadModule(const std::string& path, Content content, std::string* sha256,
                                     Diagnostics& diagnostics) {
  if (sha256 != nullptr) *sha256 = Sha256Hex(content.view());
  auto text = Take(Decompress(std::move(content), path), diagnostics);
  if (!text) return std::nullopt;
  return Take(read::ReadText(path, std::move(*text), {}, diagnostics), diagnostics);
}

std::optional<hardware::Device> ChangedDeviceOf(const RunOptions& options, Diagnostics& diagnostics) {
  auto device = DeviceOf(options, diagnostics);
  if (!device) return std::nullopt;
  for (const auto& [constant, value] : options.constants) device->calibration[constant] = value;
  if (const Status status = ChangeDevice(options.changes, *device); !status) {
    diagnostics.Report(status.error());
    return std::nullopt;
  }
  return device;
}

std::optional<ReadProgram> ReadProgramOf(const RunOptions& options, Diagnostics& diagnostics) {
  ReadProgram program;
  auto module = options.content ? ReadModule(options.program, Content(options.content, *options.content),
                                             &program.sha256, diagnostics)
                                : ReadModule(options.program, &program.sha256, diagnostics);
  if (!module) return std::nullopt;
  const auto main = Take(read::RequireMain(*module), diagnostics);
  if (!main) return std::nullopt;
  program.ops = static_cast<int64_t>(module->block(module->body(*main)).ops.size());
  if (const Status applied = Apply(options.assumptions, *module, diagnostics); !applied) {
    diagnostics.Report(applied.error());
    return std::nullopt;
  }
  if (ir::AwaitsPartitioner(*module)) {
    diagnostics.Warning(kNotPartitioned, "the program's shardings have not been applied: each device runs all of it",
                        {.file = options.program},
                        "`hespas export` writes what each device runs, `hespas shard --mesh` partitions and estimates");
  }
  program.scheduled = optimise::IsOptimised(*module);
  program.module = *std::move(module);
  return program;
}

std::string OptimiseModeOf(const RunOptions& options) {
  const bool plain = options.compat || estimate::Measures(options.estimator);  // their compilers optimise themselves
  if (options.optimise != "auto") return options.optimise;
  return std::string(options.split == "fusion" && !options.compat ? kFusionAlone : plain ? "none" : "auto");
}

std::optional<Prepared> Prepare(const RunOptions& options, Diagnostics& diagnostics) {
  auto device = ChangedDeviceOf(options, diagnostics);
  if (!device) return std::nullopt;
  auto program = ReadProgramOf(options, diagnostics);
  if (!program) return std::nullopt;
  const std::string mode = OptimiseModeOf(options);
  Prepared prepared{.device = *std::move(device),
                    .sha256 = std::move(program->sha256),
                    .ops = program->ops,
                    .scheduled = program->scheduled,
                    .optimised = mode != "none" && !((mode == "auto" || mode == kFusionAlone) && program->scheduled)};
  prepared.on_cpu = IsForCpu(mode, prepared.device);
  auto module = OptimiseModule(std::move(program->module), {.mode = mode, .xla_flags = options.xla_flags},
                               prepared.device, diagnostics);
  if (!module) return std::nullopt;
  prepared.module = std::make_unique<ir::Module>(std::move(*module));
  return SplitBlocks(options, prepared, diagnostics) ? std::optional(std::move(prepared)) : std::nullopt;
}

bool SplitBlocks(const RunOptions& options, Prepared& prepared, Diagnostics& diagnostics) {
  const split::Options split_options = SplitOptions(options);
  prepared.split = options.split == "fusion"                            ? "fusion"
                   : split_options.strategy == split::Strategy::kLinear ? "linear"
                                                                        : "individual";
  auto blocks = Take(split::Split(*prepared.module, split_options, diagnostics), diagnostics);
  if (blocks) prepared.blocks = std::move(*blocks);
  return blocks.has_value();
}

std::optional<Estimated> EstimateBlocks(const RunOptions& options, const Prepared& prepared, Diagnostics& diagnostics,
                                        bool by_op) {
  const auto estimator = EstimatorOf(options, prepared.device, nullptr, diagnostics);
  if (!estimator) return std::nullopt;
  const bool kept = options.cache != "none" && options.cache != "memory";
  const auto cache = kept ? estimate::OpenCache(options.cache, diagnostics) : nullptr;
  const estimate::EstimateOptions estimate_options{
      .strict = options.strict, .reuse = options.cache != "none", .progress = options.progress};
  auto table =
      Take(estimate::EstimateAll(prepared.blocks, *estimator, cache.get(), estimate_options, diagnostics), diagnostics);
  if (!table) return std::nullopt;
  Estimated estimated{.table = std::move(*table), .ops = {}};
  if (by_op) estimated.ops = SummariseOps(prepared, *estimator, cache.get(), estimated.table, estimated.op_times);
  if (options.flash_attention) ApplyFlashAttention(prepared, estimated);
  return estimated;
}

std::optional<trace::TraceGraph> AssembleTraces(const RunOptions& options, const Prepared& prepared,
                                                const Estimated& estimated, const hardware::System* system,
                                                Diagnostics& diagnostics) {
  assemble::Options assemble_options{.open_channels = options.one_of_several, .compat = options.compat};
  if (options.num_npus > 0) {
    assemble_options.num_npus = options.num_npus;
  } else if (system != nullptr && !prepared.blocks.communicates()) {
    // Nothing in the program says how many devices run it: all of the named system do, each on its own.
    assemble_options.num_npus = static_cast<uint32_t>(system->npus());
    diagnostics.Warning(kNoCommunication, "the program has no collectives: every NPU runs it on its own");
  }
  auto traces =
      Take(assemble::Assemble(*prepared.module, prepared.blocks, estimated.table, assemble_options, diagnostics),
           diagnostics);
  if (traces && options.overlap == "perfect") SeparateCommunication(*traces);
  return traces;
}

std::string NodePresetOf(const std::string& device, size_t npus) {
  const std::vector<std::string> names = hardware::PresetNames(hardware::PresetKind::kSystem);
  for (const std::string pattern : {"{}_{}GPU", "{}_{}"}) {
    const std::string name = fmt::format(fmt::runtime(pattern), device, npus);
    if (std::find(names.begin(), names.end(), name) != names.end()) return name;
  }
  return {};
}

std::optional<hardware::System> NodeOfDevice(const hardware::Device& device, size_t npus, Diagnostics& diagnostics) {
  if (const std::string text = NodeText(device, npus); !text.empty()) return LoadSystemPreset(text, diagnostics);
  diagnostics.Error(kNeedsSystem, fmt::format("no network preset for {} x {}", npus, device.name), {},
                    "name a network with --system; `hespas systems` lists them");
  return std::nullopt;
}

std::optional<hardware::System> SystemOfDevice(const hardware::Device& device, size_t npus, Diagnostics& diagnostics) {
  if (const std::string name = NodePresetOf(device.name, npus); !name.empty())
    return LoadSystemPreset(name, diagnostics);
  return NodeOfDevice(device, npus, diagnostics);
}

bool HasSizeOf(const hardware::System& system, const trace::TraceGraph& traces, Diagnostics& diagnostics) {
  const size_t npus = traces.program_of_rank.size();
  if (system.npus() == npus) return true;
  diagnostics.Error(kSystemSize,
                    fmt::format("`{}` has {} NPUs, but the program needs {}", system.name, system.npus(), npus), {},
                    fmt::format("choose a system of {} NPUs, or give --num-npus {}", npus, system.npus()));
  return false;
}

std::optional<result::SimResult> SimulateTraces(const RunOptions& options, const trace::TraceGraph& traces,
                                                const hardware::System& system, Diagnostics& diagnostics,
                                                bool record_nodes) {
  if (!HasSizeOf(system, traces, diagnostics)) return std::nullopt;
  auto scale = Take(ComputeScale(options.stragglers, traces.program_of_rank.size()), diagnostics);
  if (!scale) return std::nullopt;
  const simulate::SimulateOptions simulate_options{.backend = options.network_backend == "analytical-aware"
                                                                  ? simulate::Backend::kAware
                                                                  : simulate::Backend::kUnaware,
                                                   .resolution = simulate::Resolution::kPicosecond,
                                                   .record_nodes = record_nodes,
                                                   .explain = options.explain && record_nodes,
                                                   .keep_order = record_nodes,
                                                   .progress = options.progress,
                                                   .compute_scale = *std::move(scale)};
  if (options.network_backend == "simgrid")
    return Take(engines::RunSimGrid(traces, system, simulate_options, {}), diagnostics);
  return Take(simulate::Simulate(traces, system, simulate_options, diagnostics), diagnostics);
}

}  // namespace hespas::driver
