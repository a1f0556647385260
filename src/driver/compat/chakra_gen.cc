#include "driver/compat/chakra_gen.h"

#include <fmt/format.h>

#include <chrono>
#include <filesystem>

#include "assemble/assemble.h"
#include "base/system/file.h"
#include "driver/compat/block_estimates.h"
#include "driver/compat/blocks.h"
#include "driver/compat/python_text.h"
#include "driver/compat/trace_bytes.h"
#include "driver/pipeline/output.h"
#include "estimate/cache/sqlite_cache.h"
#include "estimate/estimate_all.h"
#include "estimate/registry.h"
#include "report/export/chakra.h"

namespace hespas::driver::compat {
namespace {

using Clock = std::chrono::steady_clock;
namespace fs = std::filesystem;

double SecondsSince(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// Traces of every device: one file copied to all, or one for each where groups split the devices; plain files, as the
// prototype's.
Status WritePrototypeTraces(const Settings& settings, const Blocks& blocks, const BlockEstimates& estimates,
                            const Log& log) {
  assemble::PrototypeGroups groups;
  std::vector<TraceNode> nodes;
  for (size_t i = 0; i < blocks.in_order.blocks.size(); ++i) {
    const graph::Block& block = blocks.in_order.blocks[i];
    TraceNode& node = nodes.emplace_back();
    for (const graph::BlockId p : block.predecessors) node.dependencies.push_back(p.index());
    node.communication = block.kind == graph::BlockKind::kCommunication;
    if (node.communication) {
      node.what = assemble::DescribeAsPrototype(*blocks.module, block);
      groups.Add(node.what);
    } else {
      node.duration_micros = Microseconds(estimates.seconds(i));
    }
  }
  const uint32_t npus = settings.num_npus.value_or(1);
  log.Info(
      groups.split()
          ? fmt::format("Generating per-device chakra traces for {} devices (split replica groups detected).", npus)
          : fmt::format("Generating shared chakra trace for {} devices.", npus));
  const fs::path folder = settings.output_dir;
  std::string bytes;
  for (uint32_t device = 0; device < npus; ++device) {
    if (device == 0 || groups.split()) bytes = TraceBytes(nodes, groups, device);
    if (Status written = WriteFileAtomically(folder / fmt::format("dev.{}.et", device), bytes); !written)
      return written;
  }
  const std::string path = (folder / "comm_group.json").string();
  if (Status written = WriteFileAtomically(path, CommGroupJson(groups, npus)); !written) return written;
  log.Info(fmt::format("Wrote communicator group definitions to {}", path));
  return {};
}

// The corrected traces: right sizes and groups, exact durations.
Status WriteTraces(const Settings& settings, const Blocks& blocks, const graph::EstimateTable& table,
                   report::TraceFiles form, const Log& log, Diagnostics& diagnostics) {
  const auto traces =
      assemble::Assemble(*blocks.module, blocks.in_order, table, {.num_npus = settings.num_npus}, diagnostics);
  if (!traces) return traces.error();
  const size_t npus = traces->program_of_rank.size();
  log.Info(traces->programs.size() > 1 || !traces->arguments.empty()
               ? fmt::format("Generating per-device chakra traces for {} devices ({} different programs).", npus,
                             traces->programs.size())
               : fmt::format("Generating shared chakra trace for {} devices.", npus));
  if (Status written = driver::WriteTraces(*traces, settings.output_dir, form); !written) return written;
  log.Info(fmt::format("Wrote communicator group definitions to {}",
                       (fs::path(settings.output_dir) / "comm_group.json").string()));
  return {};
}

// All blocks; what was measured once is not measured again.
Result<graph::EstimateTable> TimesOf(const Blocks& blocks, const estimate::Estimator& estimator,
                                     const BlockEstimates& estimates, estimate::EstimateCache* kept) {
  if (estimates.measured() != nullptr) return *estimates.measured();
  Diagnostics reported;  // once already, by the statistics
  return estimate::EstimateAll(blocks.in_order, estimator, kept, {}, reported);
}

// Opens the file of kept estimates in `cache_dir`, with the prototype's lines about its own cache there. Under --compat
// nothing is kept: the prototype's files are named by hashes of MLIR's own text.
std::unique_ptr<estimate::EstimateCache> OpenKept(const Settings& settings, const Log& log, Diagnostics& diagnostics) {
  if (!settings.reuse) return nullptr;
  const fs::path file = fs::path(settings.cache_dir) / "estimates.sqlite";
  const auto known = estimate::ReadCacheStatistics(file.string());
  if (settings.split.compat || !settings.keep || !known) {
    log.Info(fmt::format("No cached results found at: '{}'", settings.cache_dir));
  } else {
    log.Info(fmt::format("Loading cached results from: '{}'", settings.cache_dir));
    log.Info(fmt::format("Done ({}/{})", known->entries - known->damaged, known->entries));
  }
  if (settings.split.compat || !settings.keep) return nullptr;
  if (const Status made = MakeFolder(settings.cache_dir); !made) {
    diagnostics.Warning(estimate::kCacheNotWritten, made.error().message);
    return nullptr;
  }
  return estimate::OpenCache(file.string(), diagnostics);
}

Status Generate(const CommandLine& command, const Settings& settings, const Log& log, Diagnostics& diagnostics) {
  if (Status prepared = PrepareOutput(settings, log); !prepared) return prepared;
  const auto kept = OpenKept(settings, log, diagnostics);
  log.Info("Dependency graph not loaded. Generating a new one.");
  auto blocks = MakeBlocks(settings, log, diagnostics);
  if (!blocks) return blocks.error();
  if (Status written = WriteBlockModules(settings, *blocks); !written) return written;
  log.Info(fmt::format("Parsed {} modules from the MLIR file.", blocks->in_order.blocks.size()));
  log.Info(fmt::format(">>>> DiGraph with {} nodes and {} edges", blocks->in_order.blocks.size(), blocks->edge_count));
  const auto start = Clock::now();
  const auto estimator = estimate::MakeEstimator(settings.method, settings.device, settings.estimator);
  if (!estimator) return estimator.error();
  BlockEstimates estimates(settings, *blocks, **estimator, kept.get(), log);
  if (Status estimated = estimates.Run(diagnostics); !estimated) return estimated;
  estimate::ReportNotes(*blocks->module, estimates.notes(), false, diagnostics);
  log.Progress(log.divider());
  if (command.compat) {
    if (Status traces = WritePrototypeTraces(settings, *blocks, estimates, log); !traces) return traces;
  } else {
    const auto table = TimesOf(*blocks, **estimator, estimates, kept.get());
    if (!table) return table.error();
    const Status traces = WriteTraces(settings, *blocks, *table, command.trace_files, log, diagnostics);
    if (!traces) return traces;
  }
  const fs::path folder = settings.output_dir;
  if (Status written = WriteFileAtomically(folder / "module_stats.json", estimates.statistics().ToJson()); !written)
    return written;
  estimates.statistics().LogSummary(log);
  log.Info("Chakra gen done.");
  log.Results(log.divider());
  log.Results(fmt::format("Done. Output directory: {}", settings.output_dir));
  log.Results(fmt::format("Took {}s", RoundedRepr(SecondsSince(start))));
  return {};
}

}  // namespace

// The prototype leaves behind what it wrote before it failed.
Status GenerateTraces(const CommandLine& command, const Log& log, Diagnostics& diagnostics) {
  const auto settings = ReadSettings(command, true);
  if (!settings) return settings.error();
  std::error_code unused;
  const bool existed = fs::exists(settings->output_dir, unused);
  Status done = Generate(command, *settings, log, diagnostics);
  if (!done && !existed && !command.compat) fs::remove_all(settings->output_dir, unused);
  return done;
}

}  // namespace hespas::driver::compat
