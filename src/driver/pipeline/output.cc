#include "driver/pipeline/output.h"

#include <fmt/format.h>

#include "base/system/file.h"
#include "driver/live/live.h"
#include "driver/stages/cost/energy.h"
#include "report/export/chakra.h"
#include "report/page/page.h"
#include "report/text/program/module_stats.h"
#include "report/text/run_report.h"
#include "report/timeline/perfetto.h"

namespace hespas::driver {

Status PrepareFolder(const std::filesystem::path& folder, bool clean) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (fs::exists(folder, error) && !fs::is_directory(folder, error))
    return MakeError(kOutputNotFolder, fmt::format("`{}` exists and is not a folder", folder.string()));
  if (clean) fs::remove_all(folder, error);
  if (error) return MakeError(kCannotWrite, fmt::format("cannot empty `{}`: {}", folder.string(), error.message()));
  return MakeFolder(folder);
}

Status WriteTraces(const trace::TraceGraph& traces, const std::filesystem::path& folder, report::TraceFiles form) {
  if (Status status = report::WriteTraceFiles(traces, folder, form); !status) return status;
  return WriteFileAtomically(folder / "comm_group.json", report::EncodeGroups(traces));
}

report::TimelineCounters CountersOf(const Finished& run) {
  return {.memory = run.result.memory, .power = PowerFiguresOf(run.prepared.device, run.estimated.table)};
}

Status WriteReport(const RunOptions& options, const Finished& run, const std::filesystem::path& folder) {
  const report::StepView step = run.View();
  const std::string page = report::ReportPage({.result = run.result,
                                               .step = step,
                                               .device = run.prepared.device,
                                               .system = run.system ? &*run.system : nullptr,
                                               .live = LiveData({.options = options,
                                                                 .prepared = run.prepared,
                                                                 .estimated = run.estimated,
                                                                 .traces = run.traces,
                                                                 .system = run.system ? &*run.system : nullptr,
                                                                 .network_model = run.result.network_model})});
  if (Status status = WriteFileAtomically(folder / "report.html", page); !status) return status;
  if (!run.simulated) return {};
  return WriteFileAtomically(folder / "timeline.pftrace", report::PerfettoTrace(step, CountersOf(run)));
}

Status WriteOutputs(const Prepared& prepared, const Estimated& estimated, const trace::TraceGraph& traces,
                    const result::RunResult& result, const RunOptions& options) {
  const std::filesystem::path folder = options.output.folder;
  if (Status status = WriteTraces(traces, folder, options.output.trace_files); !status) return status;
  const std::string statistics = report::ModuleStatistics(prepared.blocks, estimated.table);
  if (Status status = WriteFileAtomically(folder / "module_stats.json", statistics); !status) return status;
  return WriteFileAtomically(folder / "result.json", report::ToJson(result));
}

}  // namespace hespas::driver
