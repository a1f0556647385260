#include "driver/local_memory.h"

#include <fmt/format.h>

#include <filesystem>
#include <unordered_map>
#include <vector>

#include "base/file.h"
#include "read/chakra/tensors.h"
#include "report/local_memory.h"

namespace hespas::driver {
namespace {

using read::chakra::NodeTensors;
using TensorsById = std::unordered_map<uint64_t, NodeTensors>;

std::vector<std::vector<report::TensorUse>> UsesByRank(const NetworkRun& run, const std::vector<TensorsById>& tensors) {
  std::vector<std::vector<report::TensorUse>> uses(run.result.ranks.size());
  for (const result::NodeInterval& interval : run.result.intervals) {
    const TensorsById& of_program = tensors[run.trace.program_of_rank[interval.rank]];
    const auto node = of_program.find(interval.node);
    if (node == of_program.end()) continue;
    const auto add = [&](const std::vector<read::chakra::Tensor>& list, bool written) {
      for (const read::chakra::Tensor& tensor : list) {
        uses[interval.rank].push_back({tensor.name, tensor.bytes, written, interval});
      }
    };
    add(node->second.inputs, false);
    add(node->second.outputs, true);
  }
  return uses;
}

}  // namespace

Status WriteLocalMemory(const NetworkRunFiles& files, NetworkRun& run) {
  std::vector<TensorsById> tensors(run.trace.programs.size());
  std::vector<bool> known(run.trace.programs.size());
  for (uint32_t rank = 0; rank < run.result.ranks.size(); ++rank) {
    const uint32_t program = run.trace.program_of_rank[rank];
    if (known[program]) continue;
    known[program] = true;
    const std::string file = fmt::format("{}.{}.et", files.workload, rank);
    const Result<std::string> bytes = ReadInput(file);
    if (!bytes) return bytes.error();
    Result<TensorsById> read = read::chakra::ReadTensors(*bytes, file);
    if (!read) return read.error();
    tensors[program] = *std::move(read);
  }
  if (Status made = MakeFolder(files.log_folder); !made) return made;
  const std::vector<std::vector<report::TensorUse>> uses = UsesByRank(run, tensors);
  const std::string prefix = (std::filesystem::path(files.log_folder) / run.system.memory_trace).string();
  for (uint32_t rank = 0; rank < uses.size(); ++rank) {
    const report::LocalMemory memory = report::TraceLocalMemory(rank, uses[rank]);
    run.result.ranks[rank].peak_memory = memory.peak;
    if (Status written = WriteFileAtomically(fmt::format("{}.{}.json", prefix, rank), memory.json); !written) {
      return written;
    }
  }
  return {};
}

}  // namespace hespas::driver
