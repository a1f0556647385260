#include "driver/output.h"

#include "base/file.h"
#include "report/chakra.h"
#include "report/module_stats.h"
#include "report/run_report.h"

namespace hespas::driver {

Status WriteTraces(const trace::TraceGraph& traces, const std::filesystem::path& folder) {
  if (Status status = MakeFolder(folder); !status) return status;
  if (Status status = report::WriteChakra(traces, folder.string()); !status) return status;
  return WriteFileAtomically(folder / "comm_group.json", report::EncodeGroups(traces));
}

Status WriteOutputs(const Prepared& prepared, const Estimated& estimated, const trace::TraceGraph& traces,
                    const result::RunResult& result, const std::filesystem::path& folder) {
  if (Status status = WriteTraces(traces, folder); !status) return status;
  const std::string statistics = report::ModuleStatistics(prepared.blocks, estimated.table);
  if (Status status = WriteFileAtomically(folder / "module_stats.json", statistics); !status) return status;
  return WriteFileAtomically(folder / "result.json", report::ToJson(result));
}

}  // namespace hespas::driver
