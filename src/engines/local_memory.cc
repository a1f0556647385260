#include "engines/local_memory.h"

#include <fmt/format.h>

#include <filesystem>
#include <unordered_map>
#include <vector>

#include "base/system/file.h"
#include "base/text/hash.h"
#include "read/chakra/tensors.h"
#include "report/timeline/local_memory.h"

namespace hespas::engines {
namespace {

using read::chakra::NodeTensors;
using TensorsById = std::unordered_map<uint64_t, NodeTensors>;

std::vector<std::vector<report::TensorUse>> UsesByRank(const NetworkRun& run,
                                                       const std::vector<const TensorsById*>& tensors) {
  std::vector<std::vector<report::TensorUse>> uses(run.result.ranks.size());
  for (const result::NodeInterval& interval : run.result.intervals) {
    const auto node = tensors[interval.rank]->find(interval.node);
    if (node == tensors[interval.rank]->end()) continue;
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

// The tensors of each rank, from its file; ranks without one have those of the first rank of their class.
Status ReadTensorsOfRanks(const NetworkRunFiles& files, const NetworkRun& run,
                          std::unordered_map<Hash128, TensorsById>& by_content,
                          std::vector<const TensorsById*>& of_rank) {
  std::unordered_map<uint32_t, const TensorsById*> of_class;
  for (uint32_t rank = 0; rank < run.result.ranks.size(); ++rank) {
    const std::string file = fmt::format("{}.{}.et", files.workload, rank);
    const auto first = of_class.find(run.trace.program_of_rank[rank]);
    std::error_code unused;
    if (first != of_class.end() && !std::filesystem::exists(file, unused)) {
      of_rank.push_back(first->second);
      continue;
    }
    const Result<std::string> bytes = ReadInput(file);
    if (!bytes) return bytes.error();
    const auto [at, added] = by_content.try_emplace(HashBytes(*bytes));
    if (added) {
      Result<TensorsById> read = read::chakra::ReadTensors(*bytes, file);
      if (!read) return read.error();
      at->second = *std::move(read);
    }
    of_rank.push_back(&at->second);
    of_class.emplace(run.trace.program_of_rank[rank], of_rank.back());
  }
  return {};
}

}  // namespace

Status WriteLocalMemory(const NetworkRunFiles& files, NetworkRun& run) {
  std::unordered_map<Hash128, TensorsById> by_content;
  std::vector<const TensorsById*> tensors;
  if (Status read = ReadTensorsOfRanks(files, run, by_content, tensors); !read) return read;
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

}  // namespace hespas::engines
